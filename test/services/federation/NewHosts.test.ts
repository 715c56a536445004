import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as NewHosts from "../../../src/services/federation/NewHosts.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { remote } from "./Peer.ts"

describe("row 34: made-up hosts of one domain", () => {
  it.effect("ten new ones a minute; known hosts, and other domains, are admitted", () =>
    Effect.gen(function*() {
      const { admit } = NewHosts.make()
      const names = Array.from({ length: 15 }, (_, n) => `h${n}.evil.test`)
      const admitted = yield* Effect.forEach(names, admit)
      assert.deepStrictEqual(admitted, names.map((_, n) => n < NewHosts.newHostsPerMinuteMax))
      assert.isTrue(yield* admit("h0.evil.test"))
      assert.isTrue(yield* admit("other.test"))
      assert.isFalse(yield* admit("a.b.c.evil.test"))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* admit("h11.evil.test"))
    }))

  for (
    const [name, domain] of [
      ["example.org", "example.org"],
      ["a.b.example.org", "example.org"],
      ["a.example.co.uk", "example.co.uk"],
      ["127.0.0.1", "127.0.0.1"],
      ["[::1]", "[::1]"],
      ["localhost", "localhost"]
    ] as const
  ) {
    it(`${name} belongs to ${domain}`, () => assert.strictEqual(NewHosts.registrable(name), domain))
  }
})

layer(remote, { excludeTestServices: true })("row 34: accounts on made-up hosts", (it) => {
  it.effect("are not requested at all", () =>
    Effect.gen(function*() {
      const find = (n: number) =>
        Effect.flip(RemoteActors.use((actors) => actors.find(`https://h${n}.wild.test/users/x`)))
      const errors = yield* Effect.forEach(Array.from({ length: 12 }, (_, n) => n), find)
      assert.deepStrictEqual(
        errors.map(({ _tag }) => _tag),
        errors.map((_, n) => n < NewHosts.newHostsPerMinuteMax ? "Unreachable" : "Implausible")
      )
    }))
})
