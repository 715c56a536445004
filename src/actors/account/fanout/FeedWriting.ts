import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { Feeds, listFeed } from "../../../services/feeds/Feeds.ts"
import type { ReaderSlice } from "../../../services/feeds/StatusReaders.ts"

/** Maximum age of a reader query when the feeds are written, in milliseconds. */
export const readersMillisMax = 200

/** Feeds that get a status: homes and lists. */
export interface FeedTargets {
  readonly accountIds: ReadonlyArray<AccountId>
  readonly lists: ReadonlyArray<bigint>
}

/** A new status and the time of its reader query. */
interface NewStatus extends Pick<ReaderSlice, "reblogOfId"> {
  readonly statusId: bigint
  /** Milliseconds since 1970. */
  readonly since: number
  /** Repeats the reader query; undefined if the status is deleted. */
  readonly reread: Effect.Effect<FeedTargets | undefined, SqlError>
}

/**
 * Writes a new status into feeds and returns the feeds that have it. A reader who unfollows has the feed dropped, but a
 * stalled process may write afterwards a status that does not belong there. So a stale reader query is repeated after
 * the write, and the feeds of lost readers are dropped.
 */
export const make = Effect.gen(function*() {
  const feeds = yield* Feeds

  return Effect.fnUntraced(function*(
    { reread, reblogOfId, since, statusId }: NewStatus,
    audience: FeedTargets
  ): Effect.fn.Return<FeedTargets, SqlError> {
    const { accountIds, lists } = audience
    yield* feeds.push([...accountIds, ...lists.map(listFeed)], { id: statusId, reblogOf: reblogOfId ?? undefined })
    if ((yield* Clock.currentTimeMillis) - since <= readersMillisMax) return audience
    const now = yield* reread
    const [homes, currentLists] = [new Set<bigint>(now?.accountIds), new Set(now?.lists)]
    yield* feeds.drop([
      ...accountIds.filter((id) => !homes.has(id)),
      ...lists.filter((id) => !currentLists.has(id)).map(listFeed)
    ])
    return { accountIds: accountIds.filter((id) => homes.has(id)), lists: lists.filter((id) => currentLists.has(id)) }
  })
})
