import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Cache from "../../../src/services/caching/Cache.ts"
import { Changes } from "../../../src/services/caching/Changes.ts"
import { StatusId } from "../../../src/services/database/Ids.ts"
import { Broadcast, makeHub, withChanges } from "../../../src/services/events/Broadcast.ts"
import { sourcesIn } from "../../support/source.ts"

interface Text {
  readonly text: string
}

const options = {
  rows: (_: Text, id: bigint) => [["status", id], ["account", id + 100n]] as const,
  kinds: ["emojis"] as const,
  max: { bytes: 100, bytesOf: ({ text }: Text) => text.length }
}
const make = Cache.make<bigint, Text>(options)

const bus = (connected: boolean) =>
  Layer.fresh(Changes.layer).pipe(Layer.provideMerge(Layer.effect(
    Broadcast,
    Effect.map(makeHub, ({ receive, onMessage, subscribe }) =>
      Broadcast.of({ publish: receive, onMessage, subscribe, connected: Effect.succeed(connected) }))
  )))
const live = Effect.provide(bus(true))
const changed = (kind: "status" | "account" | "emojis" | "user", ...ids: ReadonlyArray<bigint>) =>
  Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind, ids }))

/** Loads every id as its current text in `truth`, and records the loads. */
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

it.effect("loads missing keys once, and never returns nonexistent ones", () =>
  Effect.gen(function*() {
    const cache = yield* make
    const { asked, load } = source(new Map([[1n, "a"], [2n, "b"]]))
    assert.deepStrictEqual(texts(yield* cache.getAll([1n, 2n, 3n, 1n], load)), ["1:a", "2:b"])
    assert.deepStrictEqual(texts(yield* cache.getAll([2n, 1n], load)), ["2:b", "1:a"])
    yield* cache.getAll([3n], load)
    assert.deepStrictEqual(asked, [[1n, 2n, 3n], [3n]])
  }).pipe(live))

it.effect("keeps an entry for half a minute, or for a second without messages from other nodes", () =>
  Effect.gen(function*() {
    for (
      const [connected, millis] of [[true, Cache.cachedMillisMax], [false, Cache.cachedAloneMillisMax]] as const
    ) {
      const cache = yield* Effect.provide(make, bus(connected))
      const truth = new Map([[1n, "old"]])
      const { load } = source(truth)
      yield* cache.getAll([1n], load)
      truth.set(1n, "new")
      yield* TestClock.adjust(millis - 1)
      assert.deepStrictEqual(texts(yield* cache.getAll([1n], load)), ["1:old"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(texts(yield* cache.getAll([1n], load)), ["1:new"])
    }
  }).pipe(live))

it.effect("does not keep values read before a change", () =>
  Effect.gen(function*() {
    const cache = yield* make
    const gate = yield* Deferred.make<void>()
    const truth = new Map([[1n, "old"], [2n, "other"]])
    const { load } = source(truth)
    const reading = yield* Effect.forkChild(
      cache.getAll([1n, 2n], (missing) => Effect.tap(load(missing), () => Deferred.await(gate)))
    )
    yield* TestClock.adjust(1)
    truth.set(1n, "new").set(2n, "unheard")
    yield* changed("status", 1n)
    yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(texts(yield* Fiber.join(reading)), ["1:old", "2:other"])
    assert.deepStrictEqual(texts(yield* cache.getAll([1n, 2n], load)), ["2:other", "1:new"])
  }).pipe(live))

it.effect("keeps the most recently used entries within its maximum size", () =>
  Effect.gen(function*() {
    const cache = yield* make
    const { asked, load } = source(new Map([1n, 2n, 3n, 4n].map((id) => [id, "x".repeat(id === 4n ? 101 : 40)])))
    yield* cache.getAll([1n], load)
    yield* cache.getAll([2n], load)
    yield* cache.getAll([1n], load)
    yield* cache.getAll([3n], load)
    assert.deepStrictEqual(texts(yield* cache.getAll([4n], load)).length, 1)
    asked.length = 0
    yield* cache.getAll([1n, 2n, 3n, 4n], load)
    assert.deepStrictEqual(asked, [[2n, 4n]])
  }).pipe(live))

it.effect("drops entries made from a changed row, and keeps all others", () =>
  Effect.gen(function*() {
    const cache = yield* make
    const { asked, load } = source(new Map([[1n, "a"], [2n, "b"]]))
    const again = Effect.gen(function*() {
      asked.length = 0
      yield* cache.getAll([1n, 2n], load)
      return asked.flat()
    })
    assert.deepStrictEqual(yield* again, [1n, 2n])
    assert.deepStrictEqual(yield* again, [])
    yield* changed("status", 1n, 101n)
    assert.deepStrictEqual(yield* again, [1n])
    yield* changed("account", 102n, 1n)
    assert.deepStrictEqual(yield* again, [2n])
    yield* changed("emojis")
    assert.deepStrictEqual(yield* again, [1n, 2n])
    yield* changed("user", 1n)
    assert.deepStrictEqual(yield* again, [])
    yield* Broadcast.use(({ publish }) =>
      publish({ _tag: "StatusDeleted", statusId: StatusId.make(2n), accountIds: [], channels: [] })
    )
    assert.deepStrictEqual(yield* again, [2n])
  }).pipe(live))

it.effect("treats a key as changed if its last change was too long ago to be known", () =>
  Effect.gen(function*() {
    const cache = yield* make
    const { asked, load } = source(new Map([[1n, "a"]]))
    yield* cache.getAll([1n], load)
    for (let id = 1_000n; id < 31_000n; id++) yield* changed("status", id)
    yield* cache.getAll([1n], load)
    yield* cache.getAll([1n], load)
    assert.lengthOf(asked, 2)
  }).pipe(live))

it.effect("a change by a command on another node is known to the caller before the bus delivers it", () =>
  Effect.gen(function*() {
    const { addRemote } = yield* Changes
    const cache = yield* make
    const { asked, load } = source(new Map([[1n, "a"]]))
    yield* cache.getAll([1n], load)
    const { response, changes } = yield* Effect.provide(
      withChanges(Effect.as(changed("status", 1n), "done")),
      bus(true)
    )
    assert.deepStrictEqual([response, changes.length], ["done", 1])
    yield* cache.getAll([1n], load)
    assert.lengthOf(asked, 1)
    addRemote(changes)
    yield* cache.getAll([1n], load)
    assert.lengthOf(asked, 2)
    // Repeated changes cause no further loads.
    addRemote(changes)
    yield* cache.getAll([1n], load)
    assert.lengthOf(asked, 2)
  }).pipe(live))

it("only the caches listen for changes, and no code evicts by hand", () => {
  const byHand = /_tag [!=]== "Changed"|\bforgetViewers\b|\b(?:cache|views|statuses)\.forget\(/
  const found = sourcesIn("src").filter(({ path, text }) =>
    !/^src\/services\/(?:events\/Broadcast|caching\/Changes)\.ts$/.test(path) && byHand.test(text)
  )
  assert.deepStrictEqual(found.map(({ path }) => path), [])
})
