import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { failedLookupsMax, make } from "../../../src/services/federation/FailedLookups.ts"

describe("lookups of keys that failed", () => {
  it.effect("F76: the /64s of one /48 share a limit, those of another have their own", () =>
    Effect.gen(function*() {
      const { take } = make()
      const taken = (address: string, host: string) =>
        Effect.map(take({ address, host }), (given) => given !== undefined)
      for (let n = 0; n < failedLookupsMax.site; n++) {
        assert.isTrue(yield* taken(`2001:db8:1:${n.toString(16)}::/64`, `h${n}.example`))
      }
      assert.isFalse(yield* taken("2001:db8:1:ffff::/64", "another.example"))
      assert.isTrue(yield* taken("2001:db8:2::/64", "another.example"))
      // IPv4 addresses are not grouped into sites.
      for (let n = 0; n < failedLookupsMax.site + 1; n++) {
        assert.isTrue(yield* taken(`192.0.2.${n % 250}`, `v${n}.example`))
      }
    }))

  it.effect("F74: senders of junk leave lookups at a host to addresses that sent none", () =>
    Effect.gen(function*() {
      const { take } = make()
      const taken = (address: string) =>
        Effect.map(take({ address, host: "large.example" }), (given) => given !== undefined)
      for (let n = 0; n < failedLookupsMax.host; n++) assert.isTrue(yield* taken(`192.0.2.${n % 100}`))
      assert.isFalse(yield* taken("192.0.2.1"))
      assert.isTrue(yield* taken("198.51.100.1"))
    }))
})
