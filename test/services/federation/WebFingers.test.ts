import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { WebFingers } from "../../../src/services/federation/WebFingers.ts"
import { peer, remote } from "./Peer.ts"

const resolve = (username: string, domain: string) => WebFingers.use(({ resolve }) => resolve(username, domain))

layer(remote, { excludeTestServices: true })("WebFinger", (it) => {
  it.effect("row 12: a handle that leads to another domain's leads there only where both say the same", () =>
    Effect.gen(function*() {
      const [web, local] = [yield* peer, yield* peer]
      const actor = `${web.url}/users/anna`
      const there = web.finger("anna", actor, `acct:anna@${local.domain}`)
      web.fingers.set(`acct:anna@${web.domain}`, there)
      assert.strictEqual((yield* Effect.flip(resolve("anna", web.domain)))._tag, "Answered")
      for (
        const answer of [
          local.finger("anna", `${local.url}/users/anna`),
          local.finger("ben", actor),
          local.finger("anna", actor, `acct:anna@${web.domain}`)
        ]
      ) {
        local.fingers.set(`acct:anna@${local.domain}`, answer)
        assert.strictEqual((yield* Effect.flip(resolve("anna", web.domain)))._tag, "Implausible")
      }
      local.fingers.set(`acct:anna@${local.domain}`, there)
      const found = yield* resolve("anna", web.domain)
      assert.deepStrictEqual([found.username, found.domain, found.actor.href], ["anna", local.domain, actor])
    }))
})
