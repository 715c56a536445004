import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { countInMemory, limitKeysMax, Limits, limits } from "../../../src/http/guard/Limits.ts"

/** Makes limits that record the names of their counters. */
const recorded = () => {
  const names: Array<string> = []
  const count = countInMemory()
  return {
    names,
    limits: Limits.make((keys) => {
      names.push(...keys.map(({ id }) => id))
      return count(keys)
    })
  }
}

describe("limits", () => {
  it.effect("F11: a key of a megabyte is counted under a name of fixed length", () =>
    Effect.gen(function*() {
      const { limits: door, names } = recorded()
      for (const key of ["a", "a".repeat(1_000_000), "\u{1F600}".repeat(250_000), ""]) {
        yield* door.spend([{ limit: "signInEmail", key }])
      }
      assert.strictEqual(new Set(names).size, 4)
      assert.strictEqual(new Set(names.map((name) => name.length)).size, 1)
      assert.isBelow(names[0]!.length, 80)
    }))

  it.effect("F11: counting stops at the first claim that refuses", () =>
    Effect.gen(function*() {
      const { limits: door } = recorded()
      const [address, email] = [{ limit: "signInAddress", key: "192.0.2.1" }, {
        limit: "signInEmail",
        key: "a@b.example"
      }] as const
      for (let use = 0; use < limits.signInAddress.uses; use++) yield* door.spend([address])
      for (let use = 0; use < 3 * limits.signInEmail.uses; use++) {
        assert.strictEqual((yield* Effect.flip(door.spend([address, email])))._tag, "TooManyRequests")
      }
      // Refused requests do not count against other addresses.
      assert.strictEqual((yield* door.spend([email])).remaining, limits.signInEmail.uses - 1)
    }))

  it.effect("F11: keys of one limit never evict those of another, and stay bounded", () =>
    Effect.gen(function*() {
      const { limits: door } = recorded()
      const guess = { limit: "signInEmail", key: "ada@local.example" } as const
      for (let use = 0; use < limits.signInEmail.uses; use++) yield* door.spend([guess])
      for (let address = 0; address < limitKeysMax + 10; address++) {
        yield* door.spend([{ limit: "apiAddress", key: String(address) }])
      }
      assert.strictEqual((yield* Effect.flip(door.spend([guess])))._tag, "TooManyRequests")
      assert.strictEqual((yield* door.spend([{ limit: "apiAddress", key: "0" }])).remaining, limits.apiAddress.uses - 1)
    }))
})
