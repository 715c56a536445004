import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { fresh } from "../../src/http/Fresh.ts"

describe("fresh", () => {
  it.effect("loads once in its time, and again after it", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = fresh(1_000, Effect.sync(() => ++loads))
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(999)
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* value, 2)
    }))

  it.effect("others get what is kept while one loads anew", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let loads = 0
      const value = fresh(
        1_000,
        Effect.suspend(() => ++loads === 1 ? Effect.succeed(1) : Effect.as(Deferred.await(gate), loads))
      )
      yield* value
      yield* TestClock.adjust(1_000)
      const loading = yield* Effect.forkChild(value, { startImmediately: true })
      assert.strictEqual(yield* value, 1)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(loading), 2)
      assert.strictEqual(yield* value, 2)
    }))

  it.effect("a load that fails fails one request, not those after it", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = fresh(1_000, Effect.suspend(() => ++loads === 2 ? Effect.fail("away") : Effect.succeed(loads)))
      yield* value
      yield* TestClock.adjust(1_000)
      assert.strictEqual(yield* Effect.flip(value), "away")
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(yield* value, 3)
    }))

  it.effect("a clock that was set back does not keep it for ever", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = fresh(1_000, Effect.sync(() => ++loads))
      yield* TestClock.setTime(10_000)
      assert.strictEqual(yield* value, 1)
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* value, 2)
    }))
})
