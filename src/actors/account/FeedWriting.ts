import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Feeds, listFeed } from "../../services/feeds/Feeds.ts"
import type { ReaderSlice } from "../../services/feeds/StatusReaders.ts"
import type { AccountId } from "../../services/Ids.ts"

/** How long before the feeds are written their readers may have been asked for, in milliseconds. */
export const audienceMillisMax = 200

/** Whose feeds get a status: homes, and lists. */
export interface Audience {
  readonly accountIds: ReadonlyArray<AccountId>
  readonly lists: ReadonlyArray<bigint>
}

/** A new status, and when its readers were asked for. */
interface Asked extends Pick<ReaderSlice, "reblogOfId"> {
  readonly statusId: bigint
  /** In milliseconds since 1970. */
  readonly since: number
  /** Asks once more; nobody is to get a status that is gone by now. */
  readonly again: Effect.Effect<Audience | undefined, SqlError>
}

/**
 * Writes a new status into feeds and answers whose. A reader who stops following has the feed dropped; a process that
 * stood still does not see that and writes a status that does not belong there. So readers that were asked for long ago
 * are asked for once more after the write. The feeds of those who left are dropped.
 */
export const make = Effect.gen(function*() {
  const feeds = yield* Feeds

  return Effect.fnUntraced(function*(
    { again, reblogOfId, since, statusId }: Asked,
    audience: Audience
  ): Effect.fn.Return<Audience, SqlError> {
    const { accountIds, lists } = audience
    yield* feeds.push([...accountIds, ...lists.map(listFeed)], { id: statusId, reblogOf: reblogOfId ?? undefined })
    if ((yield* Clock.currentTimeMillis) - since <= audienceMillisMax) return audience
    const now = yield* again
    const [homes, kept] = [new Set<bigint>(now?.accountIds), new Set(now?.lists)]
    yield* feeds.drop([
      ...accountIds.filter((id) => !homes.has(id)),
      ...lists.filter((id) => !kept.has(id)).map(listFeed)
    ])
    return { accountIds: accountIds.filter((id) => homes.has(id)), lists: lists.filter((id) => kept.has(id)) }
  })
})
