import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as ViewerStateCache from "../../../src/http/render/ViewerStateCache.ts"
import { cachedMillisMax } from "../../../src/services/caching/Cache.ts"
import { Changes } from "../../../src/services/caching/Changes.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import type { StatusKey, ViewerState } from "../../../src/services/statuses/ViewerState.ts"
import { ViewerStates } from "../../../src/services/statuses/ViewerStates.ts"

const key = (id: bigint, accountId: bigint, original?: StatusKey): StatusKey => ({
  id,
  accountId,
  visibility: "public",
  conversationId: id,
  local: true,
  localOnly: false,
  poll: false,
  quoting: { automatic: ["public"], manual: [] },
  original
})
const state = (favouritesCount: number): ViewerState => ({
  repliesCount: 0,
  reblogsCount: 0,
  favouritesCount,
  quotesCount: 0,
  quoting: "automatic",
  favourited: false,
  reblogged: false,
  bookmarked: false,
  muted: false,
  pinned: false,
  votes: [],
  reactions: []
})

const [ada, bob] = [AccountId.make(1n), AccountId.make(2n)]
const post = key(10n, 5n)
const other = key(11n, 6n)
const reblog = key(20n, 7n, post)
const all = [post, other, reblog]

/** Makes a cache over figures that the test changes; `asked` has the ids of each query. */
const make = Effect.gen(function*() {
  const truth = { figure: 0, hidden: new Set<bigint>(), before: Effect.void }
  const asked: Array<ReadonlyArray<bigint>> = []
  const unused = () => Effect.die("unused")
  const cache = yield* ViewerStateCache.make(ViewerStates.of({
    of: (_viewer, statuses) =>
      Effect.gen(function*() {
        asked.push(statuses.map(({ id }) => id))
        const shown = statuses.filter(({ id }) => !truth.hidden.has(id))
        const response = new Map(shown.map(({ id }) => [id, state(truth.figure)]))
        yield* truth.before
        return response
      }),
    ofMarked: unused,
    forViewers: unused,
    ofQuoted: unused,
    quotedForViewers: unused
  }))
  const figures = (viewer: AccountId | undefined, page = all) =>
    Effect.map(cache.of(viewer, page, "nothing"), (found) => page.map(({ id }) => found.get(id)?.favouritesCount))
  return { asked, cache, figures, truth }
})
const live = Effect.provide(Changes.layer.pipe(Layer.provideMerge(Broadcast.layerMemory)))
const changed = (id: bigint) => Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind: "status", ids: [id] }))

it.effect("loads once for each viewer and mode of hiding, and again for hidden posts", () =>
  Effect.gen(function*() {
    const { asked, cache, figures, truth } = yield* make
    truth.hidden.add(11n)
    const whole = all.map(({ id }) => id)
    for (const viewer of [ada, ada, bob, undefined, undefined]) {
      assert.deepStrictEqual(yield* figures(viewer), [0, undefined, 0])
    }
    assert.deepStrictEqual(asked, [whole, [11n], whole, whole, [11n]])
    yield* cache.of(ada, all, "authors")
    yield* cache.of(ada, all, "permitted")
    assert.deepStrictEqual(asked.slice(5), [whole, whole])
  }).pipe(live))

it.effect("reloads exactly the entries that depend on a change", () =>
  Effect.gen(function*() {
    const { asked, figures } = yield* make
    const broadcast = yield* Broadcast
    const cases = [
      { kind: "status", ids: [10n], ada: [10n, 20n], bob: [10n, 20n] },
      { kind: "status", ids: [20n], ada: [20n], bob: [20n] },
      { kind: "account", ids: [5n], ada: [10n, 20n], bob: [10n, 20n] },
      { kind: "account", ids: [6n], ada: [11n], bob: [11n] },
      { kind: "relations", ids: [1n, 5n], ada: [10n, 11n, 20n], bob: undefined },
      { kind: "user", ids: [1n], ada: undefined, bob: undefined }
    ] as const
    yield* figures(ada)
    yield* figures(bob)
    for (const { kind, ids, ...expected } of cases) {
      yield* broadcast.publish({ _tag: "Changed", kind, ids })
      yield* TestClock.adjust(1)
      for (const [viewer, name] of [[ada, "ada"], [bob, "bob"]] as const) {
        asked.length = 0
        yield* figures(viewer)
        assert.deepStrictEqual(asked, expected[name] === undefined ? [] : [expected[name]], `${kind} ${ids} ${name}`)
      }
    }
  }).pipe(live))

it.effect("discards a result of a query that began before a change, in either order", () =>
  Effect.gen(function*() {
    const { figures, truth } = yield* make
    const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    truth.before = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate))
    const late = yield* Effect.forkChild(figures(ada, [post]))
    yield* Deferred.await(begun)
    truth.figure = 1
    yield* changed(10n)
    truth.before = Effect.void
    yield* Deferred.succeed(gate, undefined)
    assert.deepStrictEqual(yield* Fiber.join(late), [0])
    assert.deepStrictEqual(yield* figures(ada, [post]), [1])
    assert.deepStrictEqual(yield* figures(ada, [post]), [1])
  }).pipe(live))

it.effect("treats old changes as changed once their time is forgotten", () =>
  Effect.gen(function*() {
    const { asked, figures } = yield* make
    yield* figures(ada, [post])
    yield* changed(10n)
    for (let id = 1_000n; id < 31_000n; id++) yield* changed(id)
    asked.length = 0
    yield* figures(ada, [post])
    yield* figures(ada, [post])
    assert.deepStrictEqual(asked, [[10n]])
  }).pipe(live))

it.effect("keeps no entry longer than other caches do", () =>
  Effect.gen(function*() {
    const { figures, truth } = yield* make
    yield* figures(ada, [post])
    truth.figure = 1
    yield* TestClock.adjust(cachedMillisMax - 1)
    assert.deepStrictEqual(yield* figures(ada, [post]), [0])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(yield* figures(ada, [post]), [1])
  }).pipe(live))

it.effect("keeps a bounded number of statuses for one viewer", () =>
  Effect.gen(function*() {
    const { asked, figures } = yield* make
    for (let id = 1n; id <= 1_000n; id++) yield* figures(ada, [key(id, 5n)])
    asked.length = 0
    yield* figures(ada, [key(1n, 5n)])
    yield* figures(ada, [key(1_000n, 5n)])
    assert.deepStrictEqual(asked, [[1n]])
  }).pipe(live))
