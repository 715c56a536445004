import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Changes } from "../../../src/services/caching/Changes.ts"
import { single } from "../../../src/services/caching/Single.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"

const live = Effect.provide(Changes.layer.pipe(Layer.provideMerge(Broadcast.layerMemory)))
const second = { kinds: ["instance"], millisMax: 1_000 } as const

describe("a single value", () => {
  it.effect("loads once within its lifetime, and again after it", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = yield* single(second, Effect.sync(() => ++loads))
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(999)
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* value, 2)
    }).pipe(live))

  it.effect("others get the cached value during a reload", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let loads = 0
      const value = yield* single(
        second,
        Effect.suspend(() => ++loads === 1 ? Effect.succeed(1) : Effect.as(Deferred.await(gate), loads))
      )
      yield* value
      yield* TestClock.adjust(1_000)
      const loading = yield* Effect.forkChild(value, { startImmediately: true })
      assert.strictEqual(yield* value, 1)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(loading), 2)
      assert.strictEqual(yield* value, 2)
    }).pipe(live))

  it.effect("a failed load fails one request, not later ones", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = yield* single(
        second,
        Effect.suspend(() => ++loads === 2 ? Effect.fail("away") : Effect.succeed(loads))
      )
      yield* value
      yield* TestClock.adjust(1_000)
      assert.strictEqual(yield* Effect.flip(value), "away")
      assert.strictEqual(yield* value, 1)
      yield* TestClock.adjust(1_000)
      assert.strictEqual(yield* value, 3)
    }).pipe(live))

  it.effect("a clock that was set back does not keep it forever", () =>
    Effect.gen(function*() {
      let loads = 0
      const value = yield* single(second, Effect.sync(() => ++loads))
      yield* TestClock.setTime(10_000)
      assert.strictEqual(yield* value, 1)
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* value, 2)
    }).pipe(live))

  it.effect("reloads changed data at once, for all callers", () =>
    Effect.gen(function*() {
      const { publish } = yield* Broadcast
      const gate = yield* Deferred.make<void>()
      let loads = 0
      const value = yield* single(
        second,
        Effect.suspend(() => ++loads === 2 ? Effect.as(Deferred.await(gate), 2) : Effect.succeed(loads))
      )
      yield* value
      yield* publish({ _tag: "Changed", kind: "instance", ids: [] })
      const late = yield* Effect.forkChild(value, { startImmediately: true })
      yield* publish({ _tag: "Changed", kind: "instance", ids: [] })
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual([yield* Fiber.join(late), yield* value, yield* value], [2, 3, 3])
    }).pipe(live))
})
