import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as JsonCache from "../../../src/http/render/JsonCache.ts"

interface Text {
  readonly text: string
}

const make = (connected = true) =>
  JsonCache.make<Text>({ bytesMax: 100, bytesOf: ({ text }) => text.length, connected: Effect.succeed(connected) })

/** Loads every id as the text that `truth` has now, and counts how often it is asked. */
const source = (truth: Map<bigint, string>) => {
  const asked: Array<ReadonlyArray<bigint>> = []
  return {
    asked,
    load: (missing: ReadonlyArray<bigint>) =>
      Effect.sync(() => {
        asked.push(missing)
        return new Map(missing.flatMap((id): ReadonlyArray<[bigint, Text]> => {
          const text = truth.get(id)
          return text === undefined ? [] : [[id, { text }]]
        }))
      })
  }
}

const texts = (found: ReadonlyMap<bigint, Text>) => [...found].map(([id, { text }]) => `${id}:${text}`)

it.effect("asks once for what it does not keep, and never answers what does not exist", () =>
  Effect.gen(function*() {
    const cache = make()
    const { asked, load } = source(new Map([[1n, "a"], [2n, "b"]]))
    assert.deepStrictEqual(texts(yield* cache.get([1n, 2n, 3n, 1n], load)), ["1:a", "2:b"])
    assert.deepStrictEqual(texts(yield* cache.get([2n, 1n], load)), ["2:b", "1:a"])
    yield* cache.get([3n], load)
    assert.deepStrictEqual(asked, [[1n, 2n, 3n], [3n]])
  }))

it.effect("believes an entry for half a minute, and for a second where other nodes cannot be heard", () =>
  Effect.gen(function*() {
    for (
      const [connected, millis] of [[true, JsonCache.cachedMillisMax], [false, JsonCache.cachedAloneMillisMax]] as const
    ) {
      const cache = make(connected)
      const truth = new Map([[1n, "old"]])
      const { load } = source(truth)
      yield* cache.get([1n], load)
      truth.set(1n, "new")
      yield* TestClock.adjust(millis - 1)
      assert.deepStrictEqual(texts(yield* cache.get([1n], load)), ["1:old"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(texts(yield* cache.get([1n], load)), ["1:new"])
    }
  }))

it.effect("does not keep what was read before it was told to forget it", () =>
  Effect.gen(function*() {
    const cache = make()
    const gate = yield* Deferred.make<void>()
    const truth = new Map([[1n, "old"], [2n, "other"]])
    const { load } = source(truth)
    const reading = yield* Effect.forkChild(
      cache.get([1n, 2n], (missing) => Effect.tap(load(missing), () => Deferred.await(gate)))
    )
    yield* TestClock.adjust(1)
    truth.set(1n, "new").set(2n, "unheard")
    cache.forget([1n])
    yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(texts(yield* Fiber.join(reading)), ["1:old", "2:other"])
    assert.deepStrictEqual(texts(yield* cache.get([1n, 2n], load)), ["2:other", "1:new"])
  }))

it.effect("keeps no more bytes than it may, the last used ones", () =>
  Effect.gen(function*() {
    const cache = make()
    const { asked, load } = source(new Map([1n, 2n, 3n, 4n].map((id) => [id, "x".repeat(id === 4n ? 101 : 40)])))
    yield* cache.get([1n], load)
    yield* cache.get([2n], load)
    yield* cache.get([1n], load)
    yield* cache.get([3n], load)
    assert.deepStrictEqual(texts(yield* cache.get([4n], load)).length, 1)
    asked.length = 0
    yield* cache.get([1n, 2n, 3n, 4n], load)
    assert.deepStrictEqual(asked, [[2n, 4n]])
  }))
