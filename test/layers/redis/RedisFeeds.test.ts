import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Redis } from "../../../src/layers/Redis.ts"
import * as RedisFeeds from "../../../src/layers/redis/RedisFeeds.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import {
  feedEntriesMax,
  feedEntriesSlack,
  feedEntriesWhole,
  type FeedEntry,
  Feeds,
  type Generation
} from "../../../src/services/feeds/Feeds.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestRedis } from "../../support/RedisServer.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const entry = (id: number, reblogOf?: bigint): FeedEntry => ({ id: 2n ** 60n + BigInt(id), reblogOf })
const ids = (entries: ReadonlyArray<FeedEntry> | undefined) => entries?.map(({ id }) => Number(id - 2n ** 60n))

let accounts = 0n
/** Returns an account without a feed. */
const somebody = () => AccountId.make(BigInt(process.pid) * 1_000_000n + ++accounts)

const Base = Layer.merge(TestDatabase.layer, NodeCrypto.layer)
const overRedis = RedisFeeds.layer.pipe(Layer.provideMerge(TestRedis), Layer.provideMerge(Base))

for (const [name, feedsLayer] of [["memory", Feeds.layerMemory], ["Redis", Layer.orDie(overRedis)]] as const) {
  layer(feedsLayer, { excludeTestServices: true })(`Feeds in ${name}`, (it) => {
    it.effect("are unknown until they are filled, and then sets, newest first, with reblogs' originals", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        assert.isUndefined(yield* feeds.read(account))
        yield* feeds.push([account], entry(5))
        assert.isUndefined(yield* feeds.read(account))
        yield* feeds.fill(account, [entry(3), entry(2, 2n ** 59n), entry(1)])
        yield* feeds.push([account], entry(4))
        yield* feeds.push([account], entry(5))
        const read = yield* feeds.read(account)
        assert.deepStrictEqual(ids(read), [5, 4, 3, 2, 1])
        assert.deepStrictEqual(read?.[3], entry(2, 2n ** 59n))
      }))

    it.effect("distinguish an empty feed from one that was never filled, and forget dropped ones", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        yield* feeds.fill(account, [])
        assert.deepStrictEqual(yield* feeds.read(account), [])
        yield* feeds.drop([account])
        assert.isUndefined(yield* feeds.read(account))
        yield* feeds.push([], entry(1))
        yield* feeds.drop([])
      }))

    it.effect("keep the newest entries up to the field's limit, and stay filled", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        yield* feeds.fill(account, [entry(0)])
        const last = feedEntriesMax + feedEntriesSlack + 10
        for (let id = 1; id <= last; id++) yield* feeds.push([account], entry(id))
        const read = ids(yield* feeds.read(account))!
        assert.isAtMost(read.length, feedEntriesMax)
        assert.isAtLeast(read.length, feedEntriesWhole)
        assert.deepStrictEqual(read, read.map((_, index) => last - index))
        // A full feed needs no Postgres query for newer entries.
        for (let id = 1; id <= 2 * feedEntriesMax; id++) yield* feeds.push([account], entry(1 + id % 100))
        assert.deepStrictEqual((yield* feeds.read(account))?.[0], entry(100))
      }))

    it.effect("are not complete with only entries of the fan-out, which pauses while the owner is away", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        for (let id = 1; id <= feedEntriesMax; id++) yield* feeds.push([account], entry(id))
        assert.isUndefined(yield* feeds.read(account))
        yield* feeds.fill(account, [])
        assert.isAtLeast((yield* feeds.read(account))!.length, feedEntriesWhole)
      }))

    it.effect("have no gap after late and duplicate entries", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        yield* feeds.fill(account, [])
        const last = 3 * feedEntriesMax
        for (let id = 1; id <= last; id++) {
          yield* feeds.push([account], entry(id))
          if (id > 30 && id % 7 === 0) yield* feeds.push([account], entry(id - 30))
          const read = id % 50 === 0 ? ids(yield* feeds.read(account))! : []
          assert.deepStrictEqual(read, read.map((_, index) => id - index))
        }
      }))

    it.effect("I3: keep entries since the start of their rebuild, unless they were lost or filled in between", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        const lost = yield* feeds.begin(account)
        yield* feeds.push([account], entry(2))
        yield* feeds.drop([account])
        yield* feeds.fill(account, [entry(1)], lost)
        assert.isUndefined(yield* feeds.read(account))
        const [first, second] = [yield* feeds.begin(account), yield* feeds.begin(account)]
        yield* feeds.fill(account, [entry(1)], lost)
        assert.isUndefined(yield* feeds.read(account))
        yield* feeds.push([account], entry(3))
        yield* feeds.fill(account, [entry(2), entry(1)], second)
        assert.deepStrictEqual(ids(yield* feeds.read(account)), [3, 2, 1])
        // Two concurrent nodes; the later one changes nothing.
        yield* feeds.fill(account, [entry(0)], first)
        yield* feeds.fill(account, [entry(0)], yield* feeds.begin(account))
        assert.deepStrictEqual(ids(yield* feeds.read(account)), [3, 2, 1])
      }))

    it.effect("lose nothing to abandoned attempts, nor to entries pushed before they are filled", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const account = somebody()
        yield* feeds.push([account], entry(1000))
        for (let attempt = 0; attempt < 2 * feedEntriesMax; attempt++) yield* feeds.begin(account)
        for (let id = 1001; id < 1100; id++) yield* feeds.push([account], entry(id))
        const older = Array.from({ length: feedEntriesWhole }, (_, n) => entry(999 - n))
        yield* feeds.fill(account, older, yield* feeds.begin(account))
        const read = ids(yield* feeds.read(account))!
        assert.deepStrictEqual(read, Array.from({ length: 100 + feedEntriesWhole }, (_, n) => 1099 - n))
        yield* feeds.drop([account])
        const since = yield* feeds.begin(account)
        const last = 2 * feedEntriesMax
        for (let id = 1; id <= last; id++) yield* feeds.push([account], entry(1 + id % feedEntriesMax))
        yield* feeds.fill(account, [entry(feedEntriesMax)], since)
        assert.strictEqual(ids(yield* feeds.read(account))?.[0], feedEntriesMax)
      }))

    it.effect("accept one entry for many accounts at once", () =>
      Effect.gen(function*() {
        const feeds = yield* Feeds
        const many = Array.from({ length: 1_234 }, somebody)
        yield* feeds.push(many, entry(1))
        yield* Effect.forEach([many[0]!, many[600]!, many[1_233]!], (account) =>
          Effect.gen(function*() {
            yield* feeds.fill(account, [])
            assert.deepStrictEqual(ids(yield* feeds.read(account)), [1])
          }))
        yield* feeds.drop(many)
        assert.isUndefined(yield* feeds.read(many[1_233]!))
      }))
  })
}

/** Every third status is a reblog. */
const status = (id: number) => entry(id, id % 3 === 0 ? 7n : undefined)
const Account = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 }))
const Id = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_200 }))
const Operation = Schema.Union([
  Schema.TaggedStruct("Push", { account: Account, id: Id }),
  /** Consecutive entries, as in a feed that is written often and read rarely. */
  Schema.TaggedStruct("Burst", {
    account: Account,
    from: Id,
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 }))
  }),
  Schema.TaggedStruct("Fill", {
    account: Account,
    from: Id,
    count: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))
  }),
  Schema.TaggedStruct("Begin", { account: Account }),
  /** Uses the generation of the account's last `Begin`, if any. */
  Schema.TaggedStruct("Refill", { account: Account, from: Id }),
  Schema.TaggedStruct("Drop", { account: Account })
])

layer(Layer.orDie(overRedis), { excludeTestServices: true })("Feeds in Redis and in memory", (it) => {
  it.effect.prop(
    "return the same after any operations",
    { operations: Schema.Array(Operation).check(Schema.isMaxLength(25)) },
    ({ operations }) =>
      Effect.gen(function*() {
        const kinds = [yield* Feeds, Context.get(yield* Layer.build(Layer.fresh(Feeds.layerMemory)), Feeds)]
        const people = [somebody(), somebody(), somebody()]
        const begun = kinds.map(() => new Map<AccountId, Generation>())
        for (const operation of operations) {
          const account = people[operation.account]!
          for (const [n, feeds] of kinds.entries()) {
            switch (operation._tag) {
              case "Push":
                yield* feeds.push([account], status(operation.id))
                break
              case "Burst":
                for (let i = 0; i < operation.count; i++) yield* feeds.push([account], status(operation.from + i))
                break
              case "Fill":
                yield* feeds.fill(
                  account,
                  Array.from({ length: operation.count }, (_, i) => status(operation.from - i))
                )
                break
              case "Begin":
                begun[n]!.set(account, yield* feeds.begin(account))
                break
              case "Refill": {
                const since = begun[n]!.get(account)
                if (since !== undefined) yield* feeds.fill(account, [status(operation.from)], since)
                break
              }
              case "Drop":
                yield* feeds.drop([account])
            }
          }
          const [redis, memory] = yield* Effect.forEach(kinds, (feeds) => feeds.read(account))
          assert.deepStrictEqual(redis, memory)
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 40 } }
  )
})

layer(Layer.orDie(overRedis), { excludeTestServices: true })(
  "row 90: Feeds in a Redis with foreign data",
  (it) => {
    const foreign = [["hello"], ["1>x"], ["1e9"], [String(2n ** 64n)], ["-5"], ["1".repeat(30)], [""]]
    it.effect.each(foreign)(
      "F108: a list with %s is unknown, and is rebuilt",
      ([element = ""]) =>
        Effect.gen(function*() {
          const [feeds, redis] = [yield* Feeds, yield* Redis]
          const account = somebody()
          const key = `murmuration:feed:${account}`
          yield* feeds.fill(account, [entry(1)])
          yield* redis.use((client) => client.lpush(key, element))
          assert.isUndefined(yield* feeds.read(account))
          yield* eventually(Effect.orDie(redis.use((client) => client.exists(key))), (count) => count === 0)
          yield* eventually(
            Effect.andThen(feeds.fill(account, [entry(2)]), feeds.read(account)),
            (found) => found !== undefined
          )
          assert.deepStrictEqual(ids(yield* feeds.read(account)), [2])
        })
    )

    it.effect("F418: a value that is no list is unknown, and is rebuilt without waiting for a new entry", () =>
      Effect.gen(function*() {
        const [feeds, redis] = [yield* Feeds, yield* Redis]
        const account = somebody()
        yield* redis.use((client) => client.set(`murmuration:feed:${account}`, "hello"))
        assert.isUndefined(yield* feeds.read(account))
        yield* eventually(
          Effect.andThen(feeds.fill(account, [entry(2)]), feeds.read(account)),
          (found) => found !== undefined
        )
        assert.deepStrictEqual(ids(yield* feeds.read(account)), [2])
      }))
  }
)
