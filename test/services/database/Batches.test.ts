import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { batchRequests, batchRequestsOrSingle } from "../../../src/services/database/Batches.ts"

/** Doubles keys; records the batches in which they were requested, and holds each batch until its gate opens. */
const asking = () => {
  const batches: Array<ReadonlyArray<number>> = []
  const gates: Array<Deferred.Deferred<void>> = []
  const many = (keys: ReadonlyArray<number>) =>
    Effect.suspend(() => {
      batches.push(keys)
      const gate = gates[batches.length - 1]
      return Effect.andThen(
        gate === undefined ? Effect.void : Deferred.await(gate),
        keys.includes(13) ? Effect.fail("unlucky") : Effect.succeed((key: number) => key * 2)
      )
    })
  return { batches, gates, many }
}
const begin = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

it.effect("queries keys of one turn together, and keys that arrive during the query together after it", () =>
  Effect.gen(function*() {
    const { batches, gates, many } = asking()
    gates.push(yield* Deferred.make<void>())
    const ask = batchRequests({ max: 3 }, many)
    const first = yield* begin(Effect.forEach([1, 2], ask, { concurrency: "unbounded" }))
    while (batches.length === 0) yield* Effect.yieldNow
    const rest = yield* begin(Effect.forEach([3, 4, 5, 6], ask, { concurrency: "unbounded" }))
    yield* Deferred.succeed(gates[0] ?? (yield* Deferred.make<void>()), undefined)
    assert.deepStrictEqual(yield* Fiber.join(first), [2, 4])
    assert.deepStrictEqual(yield* Fiber.join(rest), [6, 8, 10, 12])
    assert.deepStrictEqual(batches, [[1, 2], [3, 4, 5], [6]])
  }))

it.effect("callers do not wait for an interrupted caller, whether it queried or only waited", () =>
  Effect.gen(function*() {
    const { batches, gates, many } = asking()
    const gate = yield* Deferred.make<void>()
    gates.push(gate)
    const ask = batchRequests({ max: 10 }, many)
    const first = yield* begin(ask(1))
    while (batches.length === 0) yield* Effect.yieldNow
    const [second, third, fourth] = [yield* begin(ask(2)), yield* begin(ask(3)), yield* begin(ask(4))]
    yield* Fiber.interrupt(third)
    // The caller that queries for others completes its batch.
    const stopping = yield* begin(Fiber.interrupt(first))
    const stoppingNext = yield* begin(Fiber.interrupt(second))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(stopping)
    yield* Fiber.join(stoppingNext)
    assert.strictEqual(yield* Fiber.join(fourth), 8)
    assert.strictEqual(yield* ask(5), 10)
    assert.deepStrictEqual(batches.at(-1), [5])
    assert.notDeepInclude(batches, [3])
  }))

it.effect("a failure fails all callers, or each is asked separately", () =>
  Effect.gen(function*() {
    const together = asking()
    const ask = batchRequests({ max: 10 }, together.many)
    const exits = yield* Effect.forEach([1, 13], (key) => Effect.exit(ask(key)), { concurrency: "unbounded" })
    assert.deepStrictEqual(exits, [Exit.fail("unlucky"), Exit.fail("unlucky")])
    const apart = asking()
    const askAlone = batchRequestsOrSingle({ max: 10 }, apart.many)
    const responses = yield* Effect.forEach([1, 13], (key) => Effect.exit(askAlone(key)), { concurrency: "unbounded" })
    assert.deepStrictEqual(responses, [Exit.succeed(2), Exit.fail("unlucky")])
    assert.deepStrictEqual(apart.batches[0], [1, 13])
  }))

it.effect("a caller that queries for others is not interrupted before they have results", () =>
  Effect.gen(function*() {
    const { batches, gates, many } = asking()
    const gate = yield* Deferred.make<void>()
    gates.push(gate)
    const ask = batchRequests({ max: 10 }, many)
    const [first, second] = [yield* begin(ask(1)), yield* begin(ask(2))]
    while (batches.length === 0) yield* Effect.yieldNow
    const stopping = yield* begin(Fiber.interrupt(first))
    yield* Effect.yieldNow
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(stopping)
    assert.deepStrictEqual(yield* Fiber.await(second), Exit.succeed(4))
    assert.deepStrictEqual(batches, [[1, 2]])
  }))

it.effect("the number of concurrent statements is bounded, and a full batch waits, too", () =>
  Effect.gen(function*() {
    const { batches, gates, many } = asking()
    for (let n = 0; n < 2; n++) gates.push(yield* Deferred.make<void>())
    const ask = batchRequests({ max: 2, concurrency: 2 }, many)
    const fibers = []
    for (const key of [1, 2, 3, 4, 5]) {
      fibers.push(yield* begin(ask(key)))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
    }
    const first = batches.map((keys) => keys.length)
    assert.isAtMost(first.length, 2)
    for (const gate of gates) yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(yield* Fiber.joinAll(fibers), [2, 4, 6, 8, 10])
    assert.deepStrictEqual(batches.flat(), [1, 2, 3, 4, 5])
  }))
