import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ReadDeadlines from "../../../src/services/outbound/ReadDeadlines.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"

it.effect("F44: a read that starts after yielding to others times out, too", () =>
  Effect.gen(function*() {
    const deadlines = yield* ReadDeadlines.make
    let expired = false
    yield* deadlines.watch
    for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
    deadlines.begin(10_000, () => {
      expired = true
    })
    yield* TestClock.adjust("20 seconds")
    assert.isTrue(expired)
  }))

it.effect.each([-3_600_000, 3_600_000])(
  "row 91 F114: a wall clock that jumps by %d ms moves no deadline",
  (by) =>
    Effect.gen(function*() {
      const { jump, within } = yield* jumpingClock
      yield* within(Effect.gen(function*() {
        const deadlines = yield* ReadDeadlines.make
        let expired = false
        yield* deadlines.watch
        deadlines.begin(10_000, () => {
          expired = true
        })
        jump(by)
        yield* TestClock.adjust("8 seconds")
        assert.isFalse(expired)
        yield* TestClock.adjust("3 seconds")
        assert.isTrue(expired)
      }))
    })
)
