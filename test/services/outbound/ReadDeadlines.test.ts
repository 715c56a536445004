import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ReadDeadlines from "../../../src/services/outbound/ReadDeadlines.ts"

it.effect("F44: what begins after others had their turn is given up in time, too", () =>
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
