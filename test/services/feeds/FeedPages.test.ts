import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { pageOf, repeatEntriesMax } from "../../../src/services/feeds/FeedPages.ts"
import type { FeedEntry } from "../../../src/services/feeds/Feeds.ts"
import type { Range } from "../../../src/services/feeds/NewestQuery.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const cursor = Schema.NullOr(between(0, 62))

/** Simulates Postgres' response, from all entries of the home. */
const asker = (home: ReadonlyArray<FeedEntry>) => {
  const asked: Array<Range> = []
  return {
    asked,
    ask: (range: Range) =>
      Effect.sync(() => {
        asked.push(range)
        const inside = home.filter(({ id }) =>
          (range.below === undefined || id < range.below) && (range.above === undefined || id > range.above)
        )
        return range.ascending === true ? inside.toReversed().slice(0, range.limit) : inside.slice(0, range.limit)
      })
  }
}

it.effect.prop(
  "S-121: a page is the same whether it comes from the feed, from Postgres, or in part from each",
  {
    cachedCount: between(0, 60),
    limit: between(0, 10),
    maxId: cursor,
    sinceId: cursor,
    minId: cursor
  },
  ({ cachedCount, limit, maxId, minId, sinceId }) =>
    Effect.gen(function*() {
      const home = Array.from(
        { length: 60 },
        (_, index): FeedEntry => ({ id: BigInt(60 - index), reblogOf: undefined })
      )
      const page = {
        limit,
        maxId: maxId === null ? undefined : BigInt(maxId),
        minId: minId === null ? undefined : BigInt(minId),
        sinceId: sinceId === null ? undefined : BigInt(sinceId)
      }
      const { ask, asked } = asker(home)
      const feed = home.slice(0, cachedCount)
      const { read, shown } = yield* pageOf(feed, page, ask)
      const above = page.minId ?? page.sinceId
      const inside = home.filter(({ id }) =>
        (page.maxId === undefined || id < page.maxId) && (above === undefined || id > above)
      )
      const expected = limit === 0 ? [] : page.minId === undefined ? inside.slice(0, limit) : inside.slice(-limit)
      assert.deepStrictEqual(shown.map(({ id }) => id), expected.map(({ id }) => id))
      assert.deepStrictEqual(read, shown)
      // A page within the feed needs no query.
      const oldest = feed.at(-1)?.id
      const reached = page.minId === undefined || (oldest !== undefined && page.minId >= oldest)
      if (reached && expected.length === limit && expected.every((entry) => feed.includes(entry))) {
        assert.deepStrictEqual(asked, [])
      }
    }),
  { arbitrary: { runs: 500 } }
)

it.effect.prop(
  "a reblog is omitted if its original or another reblog of it is among the next 80 entries, on any page",
  {
    originals: Schema.Array(Schema.NullOr(between(1, 120))).check(Schema.isBetweenLength(1, 200)),
    limit: between(1, 40)
  },
  ({ limit, originals }) =>
    Effect.gen(function*() {
      // Oldest first: entry n reblogs the earlier entry that it names, if any.
      const oldestFirst = originals.map((original, index): FeedEntry => ({
        id: BigInt(index + 1),
        reblogOf: original === null || original > index ? undefined : BigInt(original)
      }))
      const shownIds = new Set<bigint>()
      oldestFirst.forEach(({ id, reblogOf }, at) => {
        const near = oldestFirst.slice(Math.max(0, at - repeatEntriesMax), at)
        const repeats = reblogOf !== undefined &&
          near.some((entry) => entry.id === reblogOf || (entry.reblogOf === reblogOf && shownIds.has(entry.id)))
        if (!repeats) shownIds.add(id)
      })
      const feed = oldestFirst.toReversed()
      const { ask } = asker([])
      const walked: Array<bigint> = []
      let maxId: bigint | undefined
      for (;;) {
        const { read, shown } = yield* pageOf(feed, { limit, maxId }, ask)
        walked.push(...shown.map(({ id }) => id))
        maxId = read.at(-1)?.id
        if (maxId === undefined) break
        assert.isAtMost(shown.length, limit)
      }
      assert.deepStrictEqual(walked, feed.map(({ id }) => id).filter((id) => shownIds.has(id)))
    }),
  { arbitrary: { runs: 200 } }
)
