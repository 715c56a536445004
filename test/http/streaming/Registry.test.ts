import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "../../../src/http/streaming/Channels.ts"
import {
  channelsOfConnectionMax,
  type Connection,
  connectionsMax,
  connectionsOfAccountMax,
  connectionsOfAddressMax,
  connectionsOfTokenMax,
  Registry
} from "../../../src/http/streaming/Registry.ts"
import { AccountId, TokenId } from "../../../src/services/database/Ids.ts"

let last = 0n
const connection = (account: number, more: Partial<Connection> = {}): Connection => ({
  accountId: AccountId.make(BigInt(account)),
  tokenId: TokenId.make(++last),
  address: `192.0.2.${account}`,
  exactAddress: `192.0.2.${account}`,
  hearsNotifications: true,
  supportedTypes: new Set(),
  supportedEvents: new Set(),
  send: () => undefined,
  end: () => undefined,
  ...more
})
const channel = (topic: string): Channel => ({ name: "hashtag", topic, label: "" })

describe("Registry", () => {
  it("bounds the number of connections, in total and per account", () => {
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

  it("F20: bounds sockets per token and per address", () => {
    const registry = new Registry()
    const token = { tokenId: TokenId.make(1n) }
    const own = Array.from({ length: connectionsOfTokenMax }, () => connection(1, token))
    for (const one of own) assert.isTrue(registry.add(one))
    assert.isFalse(registry.add(connection(1, token)))
    assert.isTrue(registry.add(connection(1)), "another token of the same account")
    registry.remove(own[0]!)
    assert.isTrue(registry.add(connection(1, token)))

    const address = { address: "2001:db8:1:2::/64", exactAddress: "" }
    const there = Array.from({ length: connectionsOfAddressMax }, (_, n) => connection(100 + n, address))
    for (const one of there) assert.isTrue(registry.add(one))
    assert.isFalse(registry.add(connection(99, address)))
    assert.isTrue(registry.add(connection(99)))
    registry.remove(there[0]!)
    registry.remove(there[0]!)
    assert.isTrue(registry.add(connection(99, address)))
    assert.isFalse(registry.add(connection(98, address)))
  })

  it("F20: a few accounts cannot fill a node", () => {
    assert.isAtMost(connectionsOfTokenMax, connectionsOfAccountMax)
    assert.isAtMost(100 * connectionsOfAccountMax, connectionsMax)
    assert.isAtMost(10 * connectionsOfAddressMax, connectionsMax)
  })

  it("bounds the number of channels per connection", () => {
    const registry = new Registry()
    const one = connection(1)
    registry.add(one)
    for (let i = 0; i < channelsOfConnectionMax; i++) assert.isTrue(registry.subscribe(one, channel(`t${i}`)))
    assert.isFalse(registry.subscribe(one, channel("more")))
    assert.isTrue(registry.subscribe(one, channel("t0")))
    registry.unsubscribe(one, "t0")
    assert.isTrue(registry.subscribe(one, channel("more")))
  })

  it("removes a connection completely, and ignores channels of a missing one", () => {
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
