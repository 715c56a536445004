import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as TimeoutSet from "../../../src/services/runtime/TimeoutSet.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"

it.effect.each([-3_600_000, 3_600_000])(
  "row 91 F114: a wall clock that jumps by %d ms ends no wait, early or late",
  (by) =>
    Effect.gen(function*() {
      const { jump, within } = yield* jumpingClock
      yield* within(Effect.gen(function*() {
        const waiting = yield* TimeoutSet.make(5_000, "100 millis")
        let over = false
        const giveUp = () => {
          over = true
        }
        waiting.add({ since: 0, giveUp })
        jump(by)
        yield* TestClock.adjust("4 seconds")
        assert.isFalse(over)
        yield* TestClock.adjust("2 seconds")
        assert.isTrue(over)
      }))
    })
)
