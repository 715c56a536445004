import { Effect } from "effect"
import type { Page } from "../database/Paging.ts"
import type { FeedEntry } from "./Feeds.ts"
import type { Range } from "./NewestQuery.ts"

/**
 * Older entries among which the original or another of its boosts makes a boost a repeat (limits-and-rates.md section 5).
 */
export const repeatEntriesMax = 80

interface Pages {
  /** Shown entries of the page, newest first. */
  readonly shown: ReadonlyArray<FeedEntry>
  /** Entries that the page went through, including repeats. */
  readonly read: ReadonlyArray<FeedEntry>
}

/**
 * Returns a page without repeats: from the feed, which is complete down to its oldest entry, and from Postgres (`ask`)
 * below that.
 */
export const pageOf = Effect.fnUntraced(function*<E, R>(
  entries: ReadonlyArray<FeedEntry>,
  { limit, maxId, minId, sinceId }: Page,
  ask: (range: Range) => Effect.Effect<ReadonlyArray<FeedEntry>, E, R>
): Effect.fn.Return<Pages, E, R> {
  if (limit === 0) return { shown: [], read: [] }
  const oldest = entries.at(-1)?.id
  const start = maxId === undefined ? 0 : place(entries, (entry) => entry.id < maxId)
  if (minId !== undefined) {
    if (oldest === undefined || minId < oldest) {
      const below = yield* ask({ above: minId, below: maxId, ascending: true, limit })
      return distinct(below.toReversed())
    }
    const end = place(entries, (entry) => entry.id <= minId)
    const up = walk(entries, start, end, limit, -1)
    return { shown: up.shown.toReversed(), read: up.read.toReversed() }
  }
  const end = sinceId === undefined ? entries.length : place(entries, (entry) => entry.id <= sinceId)
  const fromFeed = walk(entries, start, end, limit, 1)
  if (fromFeed.shown.length === limit || (oldest !== undefined && sinceId !== undefined && sinceId >= oldest)) {
    return fromFeed
  }
  const below = oldest === undefined || (maxId !== undefined && maxId < oldest) ? maxId : oldest
  const older = distinct(yield* ask({ below, above: sinceId, limit: limit - fromFeed.shown.length }))
  return { shown: [...fromFeed.shown, ...older.shown], read: [...fromFeed.read, ...older.read] }
})

/** Returns the index of the first entry that passes, or the number of entries. */
const place = (entries: ReadonlyArray<FeedEntry>, test: (entry: FeedEntry) => boolean) => {
  const found = entries.findIndex(test)
  return found === -1 ? entries.length : found
}

/** Reads entries from `start` up to `end` (downwards, `step` 1) or in reverse, until `limit` are shown. */
const walk = (entries: ReadonlyArray<FeedEntry>, start: number, end: number, limit: number, step: 1 | -1): Pages => {
  const repeats = new Map<number, boolean>()
  const shown: Array<FeedEntry> = []
  const read: Array<FeedEntry> = []
  for (let at = step === 1 ? start : end - 1; at >= start && at < end && shown.length < limit; at += step) {
    const entry = entries[at]
    if (entry === undefined) continue
    read.push(entry)
    if (!isRepeat(entries, at, repeats)) shown.push(entry)
  }
  return { shown, read }
}

const distinct = (entries: ReadonlyArray<FeedEntry>): Pages => walk(entries, 0, entries.length, entries.length, 1)

/** Returns true if the original of a boost, or another boost of it that is shown, is among the next older entries. */
const isRepeat = (entries: ReadonlyArray<FeedEntry>, at: number, known: Map<number, boolean>): boolean => {
  const original = entries[at]?.reblogOf
  if (original === undefined) return false
  const before = known.get(at)
  if (before !== undefined) return before
  const end = Math.min(entries.length, at + repeatEntriesMax + 1)
  let repeat = false
  for (let older = at + 1; older < end && !repeat; older++) {
    const entry = entries[older]
    repeat = entry?.id === original || (entry?.reblogOf === original && !isRepeat(entries, older, known))
  }
  known.set(at, repeat)
  return repeat
}
