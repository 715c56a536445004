import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { rebuildMillisMax } from "../../../src/services/feeds/FeedReader.ts"
import { feedEntriesMax, Feeds, feedsBytesMax } from "../../../src/services/feeds/Feeds.ts"
import { HomeTimelines } from "../../../src/services/feeds/HomeTimelines.ts"
import { seenMillisMax } from "../../../src/services/feeds/StatusSubscribers.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Hook that runs right before a feed is filled. */
class BeforeFill extends Context.Service<BeforeFill, Ref.Ref<Effect.Effect<void>>>()("test/BeforeFill") {
  static readonly layer = Layer.effect(BeforeFill, Ref.make(Effect.void))
}

const ObservedFeeds = Layer.effect(
  Feeds,
  Effect.gen(function*() {
    const feeds = Context.get(yield* Layer.build(Feeds.layerMemory), Feeds)
    const before = yield* BeforeFill
    return Feeds.of({
      ...feeds,
      fill: (account, entries, since) =>
        Effect.flatMap(Ref.get(before), (first) => Effect.andThen(first, feeds.fill(account, entries, since)))
    })
  })
)

const Live = HomeTimelines.layer.pipe(
  Layer.provideMerge(ObservedFeeds),
  Layer.provideMerge(BeforeFill.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const at = new Date(0)
const reader = AccountId.make(1n)

const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses")
  yield* sql`INSERT INTO accounts (id, username, created_at, updated_at)
    SELECT i, 'account' || i, ${at}, ${at} FROM generate_series(1::bigint, 3) i`
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (1, 1, 2, ${at}), (2, 1, 3, ${at})`
  yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
    VALUES (10, 2, 'public', 10, ${at}), (11, 3, 'public', 11, ${at})`
  yield* (yield* Feeds).drop([reader])
})

const home = Effect.flatMap(HomeTimelines, (homes) => homes.page(reader, { limit: 20 }))

layer(Live)("a home without a feed", (it) => {
  it.effect("concurrent readers of a feed share one rebuild", () =>
    Effect.gen(function*() {
      yield* settle
      let fills = 0
      yield* Ref.set(yield* BeforeFill, Effect.sync(() => void fills++))
      const pages = yield* Effect.all(Array.from({ length: 10 }, () => home), { concurrency: 10 })
      for (const { ids } of pages) assert.deepStrictEqual(ids, [11n, 10n])
      assert.strictEqual(fills, 1)
      yield* home
      assert.strictEqual(fills, 1)
    }))

  it.effect("a rebuild is discarded if an account was unfollowed during it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* Feeds
      const before = yield* BeforeFill
      yield* settle
      // The unfollow commits and drops the feed after the statuses were read and before they are stored.
      yield* Ref.set(
        before,
        Effect.andThen(Effect.orDie(sql`DELETE FROM follows WHERE id = 2`), feeds.drop([reader]))
      )
      yield* home
      yield* Ref.set(before, Effect.void)
      assert.isUndefined(yield* feeds.read(reader))
      assert.deepStrictEqual((yield* home).ids, [10n])
      assert.deepStrictEqual((yield* feeds.read(reader))?.map(({ id }) => id), [10n])
    }))

  it.effect("I3: is not kept if a drop removed entries that were pushed during the rebuild", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* Feeds
      const before = yield* BeforeFill
      yield* settle
      yield* Ref.set(
        before,
        Effect.gen(function*() {
          yield* Effect.orDie(sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
            VALUES (12, 2, 'public', 12, ${at})`)
          yield* feeds.push([reader], { id: 12n, reblogOf: undefined })
          yield* feeds.drop([reader])
        })
      )
      yield* home
      yield* Ref.set(before, Effect.void)
      assert.deepStrictEqual((yield* home).ids, [12n, 11n, 10n])
    }))

  it.effect("I3: a feed is rebuilt after an absence in which fan-out stopped writing to it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* home
      yield* TestClock.adjust(seenMillisMax + 1)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (12, 2, 'public', 12, ${at})`
      assert.deepStrictEqual((yield* home).ids, [12n, 11n, 10n])
    }))

  it.effect("D-017: delays a reader by at most half a second: then the page comes from Postgres", () =>
    Effect.gen(function*() {
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* settle
      yield* Ref.set(yield* BeforeFill, Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gate)))
      const asking = yield* Effect.forkChild(home)
      yield* Deferred.await(begun)
      yield* TestClock.adjust(rebuildMillisMax)
      const page = yield* Fiber.join(asking)
      assert.deepStrictEqual([page.ids, page.regenerating], [[11n, 10n], true])
      yield* Deferred.succeed(gate, undefined)
      const next = yield* home
      assert.deepStrictEqual([next.ids, next.regenerating], [[11n, 10n], false])
    }))

  it.effect("F20: feeds in memory are bounded by bytes; the least recently read one is evicted, and rebuilt when read", () =>
    Effect.gen(function*() {
      const feeds = Context.get(yield* Layer.build(Layer.fresh(Feeds.layerMemory)), Feeds)
      const entries = Array.from({ length: feedEntriesMax }, (_, n) => ({ id: BigInt(n + 1), reblogOf: undefined }))
      const accounts = Array.from({ length: 2_000 }, (_, n) => AccountId.make(BigInt(n + 1)))
      const [first, second] = [AccountId.make(1n), AccountId.make(2n)]
      const presence: Array<boolean> = []
      for (const account of accounts) {
        yield* feeds.fill(account, entries)
        // The first feed is read all the time.
        presence.push((yield* feeds.read(first)) !== undefined)
      }
      assert.isTrue(presence.every(Boolean))
      assert.isUndefined(yield* feeds.read(second))
      assert.isDefined(yield* feeds.read(AccountId.make(2_000n)))
      const left = (yield* Effect.forEach(accounts, feeds.read)).filter((feed) => feed !== undefined).length
      assert.isAtMost(left * feedEntriesMax * 100, feedsBytesMax)
      assert.isAbove(left, 1_000)
    }))

  it.effect("a feed that was read shows later changes: pushed, filled, or removed", () =>
    Effect.gen(function*() {
      const feeds = Context.get(yield* Layer.build(Layer.fresh(Feeds.layerMemory)), Feeds)
      const entry = (id: bigint) => ({ id, reblogOf: undefined })
      const shown = Effect.map(feeds.read(reader), (entries) => entries?.map(({ id }) => id))
      yield* feeds.push([reader], entry(5n))
      assert.isUndefined(yield* shown)
      yield* feeds.fill(reader, [entry(3n), entry(2n)])
      assert.deepStrictEqual(yield* shown, [5n, 3n, 2n])
      yield* feeds.push([reader], entry(4n))
      assert.deepStrictEqual(yield* shown, [5n, 4n, 3n, 2n])
      assert.deepStrictEqual(yield* shown, [5n, 4n, 3n, 2n])
      yield* feeds.fill(reader, [entry(1n)])
      assert.deepStrictEqual(yield* shown, [5n, 4n, 3n, 2n, 1n])
      yield* feeds.drop([reader])
      assert.isUndefined(yield* shown)
    }))
})
