import { Clock, Effect, Fiber, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Page } from "../database/Paging.ts"
import { traced } from "../runtime/Traced.ts"
import { pageOf } from "./FeedPages.ts"
import { feedEntriesWhole, type FeedKey, Feeds } from "./Feeds.ts"
import type { Range } from "./NewestQuery.ts"

/** Maximum wait of a reader for a feed's rebuild, in milliseconds; after it, Postgres alone serves the page. */
export const rebuildMillisMax = 500

/** Page of a feed, newest first. `ids` are shown; `read` are all that the page went through, for the cursors. */
export interface FeedPage {
  readonly ids: ReadonlyArray<bigint>
  readonly read: ReadonlyArray<bigint>
  /** True while the feed is being rebuilt. */
  readonly regenerating: boolean
}

/** Queries the feed's statuses in a range from Postgres. */
type Newest = (
  range: Range,
  now: Date
) => Effect.Effect<ReadonlyArray<{ readonly id: bigint; readonly reblogOfId: bigint | null }>, SqlError>

/**
 * Reads feeds as far down as they reach, then Postgres. A lost feed is rebuilt once for all concurrent readers. Create
 * one for each node and kind of feed.
 */
export const make = Effect.gen(function*() {
  const feeds = yield* Feeds
  const scope = yield* Scope.Scope
  const rebuilds = new Map<FeedKey, Effect.Effect<void>>()

  const asker = (newest: Newest) => (range: Range) =>
    Effect.gen(function*() {
      const rows = yield* newest(range, new Date(yield* Clock.currentTimeMillis)).pipe(Effect.orDie)
      return rows.map(({ id, reblogOfId }) => ({ id, reblogOf: reblogOfId ?? undefined }))
    })

  // A change of a feed's content drops the feed after its commit, so `fill` discards entries read before that. It also
  // discards them if the feed was lost in between and a later post was pushed to it.
  const rebuild = traced("FeedReader.rebuild")(function*(feed: FeedKey, newest: Newest) {
    const since = yield* feeds.begin(feed)
    yield* feeds.fill(feed, yield* asker(newest)({ limit: feedEntriesWhole }), since)
  })

  /** Waits for the feed's shared rebuild, up to `rebuildMillisMax`; returns true if it is done. */
  const rebuilt = Effect.fnUntraced(function*(feed: FeedKey, newest: Newest) {
    let running = rebuilds.get(feed)
    if (running === undefined) {
      running = yield* Effect.cached(
        rebuild(feed, newest).pipe(Effect.ensuring(Effect.sync(() => rebuilds.delete(feed))))
      )
      rebuilds.set(feed, running)
    }
    const fiber = yield* Effect.forkIn(running, scope)
    return yield* Effect.timeoutOrElse(Effect.as(Fiber.join(fiber), true), {
      duration: rebuildMillisMax,
      orElse: () => Effect.succeed(false)
    })
  })

  return Effect.fnUntraced(function*(feed: FeedKey, newest: Newest, page: Page): Effect.fn.Return<FeedPage> {
    let entries = yield* feeds.read(feed)
    let regenerating = false
    if (entries === undefined) {
      regenerating = !(yield* rebuilt(feed, newest))
      entries = yield* feeds.read(feed)
    }
    const { read, shown } = yield* pageOf(entries ?? [], page, asker(newest))
    return { ids: shown.map(({ id }) => id), read: read.map(({ id }) => id), regenerating }
  })
})
