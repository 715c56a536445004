import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { claimMillis, Deliveries } from "../../../src/services/federation/outbox/Deliveries.ts"
import { layerRounds, receiver, send, sender, waiting } from "./Rounds.ts"

layer(layerRounds)("a delivery with a stale claim", (it) => {
  it.effect("F123: is changed only by its newest owner, not by one that reports a failure or releases it later", () =>
    Effect.gen(function*() {
      const deliveries = yield* Deliveries
      yield* send(yield* sender, yield* receiver("late.test"), "https://here.test/1")
      const claim = Effect.map(
        deliveries.claim([{ host: "late.test", rows: 10 }]),
        (taken) => taken.get("late.test") ?? []
      )
      const [first] = yield* claim
      yield* TestClock.adjust(claimMillis)
      const [second] = yield* claim
      if (first === undefined || second === undefined) return assert.fail("claimed nothing")
      const claimed = yield* waiting
      assert.deepStrictEqual(claimed, [{ uri: "https://here.test/1", tries: 2, error: null, seconds: 30 }])
      const now = yield* Clock.currentTimeMillis
      yield* deliveries.retry([{ ...first, dueAt: now + 1_000, error: "late" }])
      yield* deliveries.release([{ ...first, dueAt: now }])
      assert.deepStrictEqual(yield* waiting, claimed)
      yield* deliveries.release([{ ...second, dueAt: now }])
      assert.deepStrictEqual(yield* waiting, [{ uri: "https://here.test/1", tries: 1, error: null, seconds: 0 }])
      const [third] = yield* claim
      if (third === undefined) return assert.fail("claimed nothing")
      yield* deliveries.retry([{ ...third, dueAt: now + 1_000, error: "refused" }])
      assert.deepStrictEqual(yield* waiting, [
        { uri: "https://here.test/1", tries: 2, error: "refused", seconds: 1 }
      ])
      // A delivery that the inbox accepted has ended, even if a stale claim reports it.
      yield* deliveries.complete([first])
      assert.deepStrictEqual(yield* waiting, [])
    }))
})
