import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Deadlines from "../../../src/services/outbound/Deadlines.ts"

it.effect("F44: what begins after others had their turn is given up in time, too", () =>
  Effect.gen(function*() {
    const deadlines = yield* Deadlines.make
    let expired = false
    yield* deadlines.watch
    for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
    deadlines.begin(10_000, () => {
      expired = true
    })
    yield* TestClock.adjust("20 seconds")
    assert.isTrue(expired)
  }))
