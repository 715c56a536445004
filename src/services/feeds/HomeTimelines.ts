import { Clock, Context, Effect, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import type { Page } from "../Paging.ts"
import { traced } from "../Traced.ts"
import { feedEntriesWhole, type FeedEntry, Feeds } from "./Feeds.ts"
import * as HomeQuery from "./HomeQuery.ts"

/** A reblog is left out where its original or another reblog of it is among that many older entries (limits-and-rates.md section 5). */
export const repeatEntriesMax = 80

/** How long a reader waits for a forgotten feed to be made anew, in milliseconds; then Postgres answers the page alone. */
export const rebuildMillisMax = 500

/** A page of a home, newest first. `ids` are what is shown, `read` what the page went through, of which cursors are made. */
interface HomePage {
  readonly ids: ReadonlyArray<bigint>
  readonly read: ReadonlyArray<bigint>
  /** The feed is still being made anew. */
  readonly regenerating: boolean
}

/**
 * Reads home timelines: from the feed as far as it goes, from Postgres beyond. A feed that was forgotten is made anew
 * once, however many ask for it.
 */
export class HomeTimelines extends Context.Service<HomeTimelines, {
  readonly page: (reader: AccountId, page: Page) => Effect.Effect<HomePage>
}>()("murmuration/services/feeds/HomeTimelines") {
  static readonly layer = Layer.effect(
    HomeTimelines,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* Feeds
      const scope = yield* Scope.Scope
      const rebuilds = new Map<AccountId, Effect.Effect<void>>()

      const ask = Effect.fnUntraced(function*(reader: AccountId, range: HomeQuery.Range) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* HomeQuery.newest(sql, reader, range, now).pipe(Effect.orDie)
        return rows.map(({ id, reblogOfId }) => ({ id, reblogOf: reblogOfId ?? undefined }))
      })

      // A change of what belongs into a home drops the feed after its commit, so that an earlier read is not kept; nor
      // is it where a later post was pushed to a feed that was lost since.
      const rebuild = traced("HomeTimelines.rebuild")(function*(reader: AccountId) {
        const since = yield* feeds.begin(reader)
        yield* feeds.fill(reader, yield* ask(reader, { limit: feedEntriesWhole }), since)
      })

      /** Waits for the one rebuild of the reader's feed, but not for ever; true where it is done. */
      const rebuilt = Effect.fnUntraced(function*(reader: AccountId) {
        let running = rebuilds.get(reader)
        if (running === undefined) {
          running = yield* Effect.cached(
            rebuild(reader).pipe(
              Effect.ensuring(Effect.sync(() => rebuilds.delete(reader)))
            )
          )
          rebuilds.set(reader, running)
        }
        const fiber = yield* Effect.forkIn(running, scope)
        return yield* Effect.timeoutOrElse(Effect.as(Fiber.join(fiber), true), {
          duration: rebuildMillisMax,
          orElse: () => Effect.succeed(false)
        })
      })

      const page = traced("HomeTimelines.page")(function*(reader: AccountId, page: Page) {
        let entries = yield* feeds.read(reader)
        let regenerating = false
        if (entries === undefined) {
          regenerating = !(yield* rebuilt(reader))
          entries = yield* feeds.read(reader)
        }
        const { read, shown } = yield* pageOf(entries ?? [], page, (range) => ask(reader, range))
        return { ids: shown.map(({ id }) => id), read: read.map(({ id }) => id), regenerating }
      })

      return HomeTimelines.of({ page })
    })
  )
}

interface Pages {
  /** The shown page, newest first. */
  readonly shown: ReadonlyArray<FeedEntry>
  /** What the page went through, repeats included. */
  readonly read: ReadonlyArray<FeedEntry>
}

/**
 * The entries of a page without repeats: out of the feed, which holds everything above its oldest entry, and out of
 * Postgres (`ask`) where the page goes further down.
 */
export const pageOf = Effect.fnUntraced(function*<E, R>(
  entries: ReadonlyArray<FeedEntry>,
  { limit, maxId, minId, sinceId }: Page,
  ask: (range: HomeQuery.Range) => Effect.Effect<ReadonlyArray<FeedEntry>, E, R>
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
  const kept = walk(entries, start, end, limit, 1)
  if (kept.shown.length === limit || (oldest !== undefined && sinceId !== undefined && sinceId >= oldest)) return kept
  const below = oldest === undefined || (maxId !== undefined && maxId < oldest) ? maxId : oldest
  const older = distinct(yield* ask({ below, above: sinceId, limit: limit - kept.shown.length }))
  return { shown: [...kept.shown, ...older.shown], read: [...kept.read, ...older.read] }
})

/** Where the first entry is that passes, which is the number of entries where none does. */
const place = (entries: ReadonlyArray<FeedEntry>, test: (entry: FeedEntry) => boolean) => {
  const found = entries.findIndex(test)
  return found === -1 ? entries.length : found
}

/** Goes through the entries from `start` up to `end` (downwards, `step` 1) or the other way, until `limit` are shown. */
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

/** Whether a reblog's original, or another reblog of it that is no repeat itself, is among the next older entries. */
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
