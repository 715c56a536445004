import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Redis } from "../../../src/layers/Redis.ts"
import * as RedisFeeds from "../../../src/layers/redis/RedisFeeds.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { type FeedEntry, Feeds, feedUnreadMillisMax } from "../../../src/services/feeds/Feeds.ts"
import { seenMillisMax } from "../../../src/services/feeds/StatusSubscribers.ts"
import { visitMillis } from "../../../src/services/oauth/Visits.ts"
import { startRedis, TestRedis } from "../../support/RedisServer.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const entry = (id: number, reblogOf?: bigint): FeedEntry => ({ id: 2n ** 60n + BigInt(id), reblogOf })
const ids = (entries: ReadonlyArray<FeedEntry> | undefined) => entries?.map(({ id }) => Number(id - 2n ** 60n))

let accounts = 0n
/** Returns an account without a feed. */
const somebody = () => AccountId.make(BigInt(process.pid) * 1_000_000n + ++accounts)

const Base = Layer.merge(TestDatabase.layer, NodeCrypto.layer)
const until = <E, R>(test: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(test, { until: (yes) => yes, schedule: Schedule.spaced("5 millis") })

/** A node's feeds over a Redis that the test can make unavailable. */
const node = Effect.gen(function*() {
  const redis = yield* Redis
  const state = { away: false }
  const fragile = Redis.of({
    ...redis,
    use: (f) => state.away ? redis.use(() => Promise.reject(new Error("away"))) : redis.use(f)
  })
  const context = yield* Layer.build(Layer.fresh(RedisFeeds.layer).pipe(Layer.provide(Layer.succeed(Redis, fragile))))
  return { state, feeds: Context.get(context, Feeds) }
})

layer(Layer.orDie(TestRedis.pipe(Layer.provideMerge(Base))), { excludeTestServices: true })(
  "Feeds while Redis is away",
  (it) => {
    it.effect("miss entries, are unknown in the meantime, and are rebuilt afterwards on every node", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* node, yield* node]
        const [missed, untouched] = [somebody(), somebody()]
        yield* one.feeds.fill(missed, [entry(1)])
        yield* one.feeds.fill(untouched, [entry(1)])
        one.state.away = true
        yield* one.feeds.push([missed], entry(2))
        assert.isUndefined(yield* one.feeds.read(missed))
        yield* one.feeds.fill(missed, [entry(1)])
        one.state.away = false
        assert.isUndefined(yield* one.feeds.read(missed))
        yield* until(Effect.map(other.feeds.read(missed), (feed) => feed === undefined))
        assert.deepStrictEqual(ids(yield* other.feeds.read(untouched)), [1])
        yield* other.feeds.fill(missed, [entry(2), entry(1)])
        yield* until(Effect.map(one.feeds.read(missed), (feed) => feed !== undefined))
        yield* one.feeds.push([missed], entry(3))
        assert.deepStrictEqual(ids(yield* one.feeds.read(missed)), [3, 2, 1])
      }).pipe(Effect.scoped))

    it.effect("are dropped afterwards if they should have been dropped", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* node, yield* node]
        const account = somebody()
        yield* one.feeds.fill(account, [entry(1)])
        one.state.away = true
        yield* one.feeds.drop([account])
        assert.deepStrictEqual(ids(yield* other.feeds.read(account)), [1])
        one.state.away = false
        yield* until(Effect.map(other.feeds.read(account), (feed) => feed === undefined))
      }).pipe(Effect.scoped))

    it.effect("are all dropped if more feeds missed entries than a node can remember", () =>
      Effect.gen(function*() {
        const { feeds, state } = yield* node
        const account = somebody()
        yield* feeds.fill(account, [entry(1)])
        state.away = true
        yield* feeds.drop(Array.from({ length: 200_001 }, (_, index) => AccountId.make(BigInt(index + 1))))
        assert.isUndefined(yield* feeds.read(account))
        state.away = false
        assert.isUndefined(yield* feeds.read(account))
        yield* until(Effect.gen(function*() {
          yield* feeds.fill(account, [entry(2)])
          return (yield* feeds.read(account)) !== undefined
        }))
        assert.deepStrictEqual(ids(yield* feeds.read(account)), [2])
      }).pipe(Effect.scoped))

    it.effect("are all dropped by another node if a node with missed feeds died", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const account = somebody()
        const notes = sql`SELECT name FROM settings WHERE name LIKE 'feeds_missed:%'`
        yield* Effect.scoped(Effect.gen(function*() {
          const { feeds, state } = yield* node
          yield* feeds.fill(account, [entry(1)])
          state.away = true
          yield* feeds.push([account], entry(2))
          yield* until(Effect.map(notes, (rows) => rows.length > 0))
        }))
        const early = yield* node
        assert.deepStrictEqual(ids(yield* early.feeds.read(account)), [1])
        yield* sql`UPDATE settings SET updated_at = updated_at - interval '31 seconds' WHERE name LIKE 'feeds_missed:%'`
        const late = yield* node
        yield* until(Effect.map(late.feeds.read(account), (feed) => feed === undefined))
        yield* until(Effect.map(notes, (rows) => rows.length === 0))
      }).pipe(Effect.scoped))

    it.effect("do not delay anybody while Redis is frozen, and are unknown after it lost everything", () =>
      Effect.gen(function*() {
        const { pid, url } = yield* startRedis
        const redis = Context.get(yield* Layer.build(Redis.layer(Redacted.make(url))), Redis)
        const feeds = Context.get(
          yield* Layer.build(Layer.fresh(RedisFeeds.layer).pipe(Layer.provide(Layer.succeed(Redis, redis)))),
          Feeds
        )
        const account = somebody()
        yield* feeds.fill(account, [entry(1)])
        process.kill(pid, "SIGSTOP")
        const waits = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, id) => id),
          (id) => Effect.timed(feeds.push([account], entry(id + 2)))
        )
        // One push has noticed that Redis hangs; only a push a second later would try again.
        assert.isAtMost(
          waits.filter(([duration]) => Duration.toMillis(duration) > 500).length,
          1
        )
        assert.isUndefined(yield* feeds.read(account))
        process.kill(pid, "SIGCONT")
        yield* until(Effect.gen(function*() {
          yield* feeds.fill(account, [entry(60)])
          return (yield* feeds.read(account)) !== undefined
        }))
        assert.deepStrictEqual(ids(yield* feeds.read(account)), [60])
        yield* redis.use((client) => client.flushall())
        assert.isUndefined(yield* feeds.read(account))
      }).pipe(Effect.scoped))

    it.effect("I3: expire after five days without a read, before fan-out stops writing to them", () =>
      Effect.gen(function*() {
        const redis = yield* Redis
        const { feeds } = yield* node
        assert.isAtMost(feedUnreadMillisMax, seenMillisMax - visitMillis)
        const secondsMax = feedUnreadMillisMax / 1000
        const [pushed, filled] = [somebody(), somebody()]
        yield* feeds.push([pushed], entry(1))
        yield* feeds.fill(filled, [])
        for (const account of [pushed, filled]) {
          const seconds = yield* redis.use((client) => client.ttl(`murmuration:feed:${account}`))
          assert.isAtMost(Math.abs(seconds - secondsMax), 5)
          yield* redis.use((client) => client.expire(`murmuration:feed:${account}`, 100))
          yield* feeds.read(account)
          assert.isAbove(yield* redis.use((client) => client.ttl(`murmuration:feed:${account}`)), secondsMax - 5)
        }
      }).pipe(Effect.scoped))
  }
)
