import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "../../../src/http/streaming/Channels.ts"
import {
  channelsOfConnectionMax,
  type Connection,
  connectionsMax,
  connectionsOfAccountMax,
  Registry
} from "../../../src/http/streaming/Registry.ts"
import { AccountId, TokenId } from "../../../src/services/Ids.ts"

const connection = (account: number): Connection => ({
  accountId: AccountId.make(BigInt(account)),
  tokenId: TokenId.make(1n),
  hearsNotifications: true,
  send: () => undefined,
  end: () => undefined
})
const channel = (topic: string): Channel => ({ name: "hashtag", topic, label: "" })

describe("Registry", () => {
  it("holds so many connections, and so many of one account, and no more", () => {
    const registry = new Registry()
    const own = Array.from({ length: connectionsOfAccountMax }, () => connection(1))
    for (const one of own) assert.isTrue(registry.add(one))
    assert.isFalse(registry.add(connection(1)))
    registry.remove(own[0]!)
    assert.isTrue(registry.add(connection(1)))
    for (let account = 2; registry.size < connectionsMax; account++) assert.isTrue(registry.add(connection(account)))
    assert.isFalse(registry.add(connection(0)))
    assert.strictEqual(registry.connections().length, connectionsMax)
  })

  it("holds so many channels of one connection", () => {
    const registry = new Registry()
    const one = connection(1)
    registry.add(one)
    for (let i = 0; i < channelsOfConnectionMax; i++) assert.isTrue(registry.subscribe(one, channel(`t${i}`)))
    assert.isFalse(registry.subscribe(one, channel("more")))
    assert.isTrue(registry.subscribe(one, channel("t0")))
    registry.unsubscribe(one, "t0")
    assert.isTrue(registry.subscribe(one, channel("more")))
  })

  it("forgets a connection altogether, and enters none that is not there", () => {
    const registry = new Registry()
    const [one, other] = [connection(1), connection(1)]
    for (const each of [one, other]) {
      registry.add(each)
      registry.subscribe(each, channel("t"))
    }
    registry.remove(one)
    registry.subscribe(one, channel("t"))
    registry.unsubscribe(one, "t")
    assert.deepStrictEqual([...registry.listeners("t").keys()], [other])
    assert.deepStrictEqual(registry.ofAccount(AccountId.make(1n)), [other])
    registry.remove(other)
    assert.strictEqual(registry.listeners("t").size, 0)
    assert.strictEqual(registry.size, 0)
  })
})
