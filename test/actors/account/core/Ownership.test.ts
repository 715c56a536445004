import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { nextMillis } from "../../../../src/actors/account/core/Ownership.ts"
import { aheadMillisMax } from "../../../../src/services/runtime/Moments.ts"

const year = 365 * 86_400_000

describe("times of new statuses", () => {
  it.effect("F19: a clock that was once ahead does not keep dating posts in the future", () =>
    Effect.gen(function*() {
      const now = 1_800_000_000_000
      yield* TestClock.setTime(now)
      const own = { newestMillis: now + year }
      assert.strictEqual(yield* nextMillis(own), now)
      assert.strictEqual(yield* nextMillis(own), now + 1)
      own.newestMillis = now + 60_000
      assert.strictEqual(yield* nextMillis(own), now + 60_001)
    }))

  const Jump = Schema.Int.check(Schema.isBetween({ minimum: -2 * aheadMillisMax, maximum: 2 * aheadMillisMax }))
  it.effect.prop(
    "F19: a time is at most five minutes ahead for any clock, and follows the previous one unless that was too far ahead",
    { jumps: Schema.Array(Jump) },
    ({ jumps }) =>
      Effect.gen(function*() {
        let now = 1_800_000_000_000
        const own = { newestMillis: 0 }
        for (const jump of jumps) {
          now += jump
          yield* TestClock.setTime(now)
          const before = own.newestMillis
          const next = yield* nextMillis(own)
          assert.isAtMost(next, now + aheadMillisMax)
          assert.isAtLeast(next, now)
          if (before < now + aheadMillisMax) assert.isAbove(next, before)
        }
      })
  )
})
