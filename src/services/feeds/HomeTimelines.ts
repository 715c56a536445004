import { Clock, Context, Effect, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../Ids.ts"
import type { Page } from "../Paging.ts"
import { feedEntriesWhole, type FeedEntry, Feeds } from "./Feeds.ts"
import * as HomeQuery from "./HomeQuery.ts"

/** A reblog is left out where its original or another reblog of it is among that many older entries (limits-and-rates.md section 5). */
export const repeatEntriesMax = 80

/** How long a reader waits for a forgotten feed to be made anew, in milliseconds; then Postgres answers the page alone. */
export const rebuildMillisMax = 500

/** A page of a home, newest first. `ids` are what is shown, `read` what the page went through, of which cursors are made. */
export interface HomePage {
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

      /** Changes with every relation that decides about a home. */
      const relations = (reader: AccountId) =>
        sql<{ mark: string }>`SELECT md5(concat(
            (SELECT bit_xor(hashtextextended(f::text, 0)) FROM follows f WHERE f.account_id = ${reader}), ',',
            (SELECT bit_xor(b.id) FROM blocks b WHERE b.account_id = ${reader}), ',',
            (SELECT bit_xor(b.id) FROM blocks b WHERE b.target_account_id = ${reader}), ',',
            (SELECT bit_xor(m.id) FROM mutes m WHERE m.account_id = ${reader}))) AS mark`.pipe(
          Effect.map(([row]) => row?.mark),
          Effect.orDie
        )

      // A relation that changed meanwhile has dropped the feed before this fills it, so what was read may be wrong.
      const rebuild = Effect.fn("HomeTimelines.rebuild")(function*(reader: AccountId) {
        const before = yield* relations(reader)
        yield* feeds.fill(reader, yield* ask(reader, { limit: feedEntriesWhole }))
        if ((yield* relations(reader)) !== before) yield* feeds.drop([reader])
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

      const page = Effect.fn("HomeTimelines.page")(function*(reader: AccountId, page: Page) {
        let entries = yield* feeds.read(reader)
        let regenerating = false
        if (entries === undefined) {
          regenerating = !(yield* rebuilt(reader))
          entries = yield* feeds.read(reader)
        }
        const read = yield* pageOf(entries ?? [], page, (range) => ask(reader, range))
        const shown = withoutRepeats(entries ?? [], read)
        return { ids: shown.map(({ id }) => id), read: read.map(({ id }) => id), regenerating }
      })

      return HomeTimelines.of({ page })
    })
  )
}

/**
 * The entries of a page: out of the feed, which holds everything above its oldest entry, and out of Postgres (`ask`)
 * where the page goes further down.
 */
export const pageOf = Effect.fnUntraced(function*<E, R>(
  entries: ReadonlyArray<FeedEntry>,
  { limit, maxId, minId, sinceId }: Page,
  ask: (range: HomeQuery.Range) => Effect.Effect<ReadonlyArray<FeedEntry>, E, R>
) {
  if (limit === 0) return []
  const oldest = entries.at(-1)?.id
  if (minId !== undefined) {
    if (oldest === undefined || minId < oldest) {
      return (yield* ask({ above: minId, below: maxId, ascending: true, limit })).toReversed()
    }
    const end = firstAtOrBelow(entries, minId)
    const start = maxId === undefined ? 0 : firstBelow(entries, maxId)
    return entries.slice(Math.max(start, end - limit), end)
  }
  const start = maxId === undefined ? 0 : firstBelow(entries, maxId)
  const end = sinceId === undefined ? entries.length : firstAtOrBelow(entries, sinceId)
  const kept = entries.slice(start, Math.min(end, start + limit))
  if (kept.length === limit || (oldest !== undefined && sinceId !== undefined && sinceId >= oldest)) return kept
  const below = oldest === undefined || (maxId !== undefined && maxId < oldest) ? maxId : oldest
  return [...kept, ...(yield* ask({ below, above: sinceId, limit: limit - kept.length }))]
})

const firstBelow = (entries: ReadonlyArray<FeedEntry>, id: bigint) => indexOf(entries, (entry) => entry.id < id)
const firstAtOrBelow = (entries: ReadonlyArray<FeedEntry>, id: bigint) => indexOf(entries, (entry) => entry.id <= id)
const indexOf = (entries: ReadonlyArray<FeedEntry>, test: (entry: FeedEntry) => boolean) => {
  const found = entries.findIndex(test)
  return found === -1 ? entries.length : found
}

/** A page without reblogs that repeat what stands a little below; older entries of the feed count, too. */
export const withoutRepeats = (
  entries: ReadonlyArray<FeedEntry>,
  page: ReadonlyArray<FeedEntry>
): ReadonlyArray<FeedEntry> => {
  const first = page[0]
  if (first === undefined || page.every(({ reblogOf }) => reblogOf === undefined)) return page
  const start = firstAtOrBelow(entries, first.id)
  // Twice as far, so that what is itself a repeat of something older is known as such.
  const context = entries.slice(start + page.length, start + page.length + 2 * repeatEntriesMax)
  const shownAt = new Map<bigint, number>()
  const shown: Array<FeedEntry> = []
  const all = [...page, ...context]
  for (let at = all.length - 1; at >= 0; at--) {
    const entry = all[at]
    if (entry === undefined) continue
    const key = entry.reblogOf ?? entry.id
    const before = shownAt.get(key)
    if (entry.reblogOf !== undefined && before !== undefined && before - at <= repeatEntriesMax) continue
    shownAt.set(key, at)
    if (at < page.length) shown.push(entry)
  }
  return shown.reverse()
}
