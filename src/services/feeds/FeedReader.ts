import { Clock, Effect, Fiber, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Page } from "../Paging.ts"
import { traced } from "../Traced.ts"
import { pageOf } from "./FeedPages.ts"
import { feedEntriesWhole, type FeedKey, Feeds } from "./Feeds.ts"
import type { Range } from "./NewestQuery.ts"

/** How long a reader waits for a forgotten feed to be made anew, in milliseconds; then Postgres answers the page alone. */
export const rebuildMillisMax = 500

/** A page of a feed, newest first. `ids` are what is shown, `read` what the page went through, of which cursors are made. */
export interface FeedPage {
  readonly ids: ReadonlyArray<bigint>
  readonly read: ReadonlyArray<bigint>
  /** The feed is still being made anew. */
  readonly regenerating: boolean
}

/** What Postgres has of a feed in a range. */
type Newest = (
  range: Range,
  now: Date
) => Effect.Effect<ReadonlyArray<{ readonly id: bigint; readonly reblogOfId: bigint | null }>, SqlError>

/**
 * Reads feeds as far as they go, and Postgres beyond. A feed that was forgotten is made anew once, however many ask for it.
 * Made once a node and kind of feed.
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

  // A change of what belongs into a feed drops it after its commit: an earlier read is not kept; nor is it where a
  // later post was pushed to a feed that was lost since.
  const rebuild = traced("FeedReader.rebuild")(function*(feed: FeedKey, newest: Newest) {
    const since = yield* feeds.begin(feed)
    yield* feeds.fill(feed, yield* asker(newest)({ limit: feedEntriesWhole }), since)
  })

  /** Waits for the one rebuild of the feed, but not for ever; true where it is done. */
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
