import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Feeds } from "../../services/feeds/Feeds.ts"
import { type ReaderSlice, StatusReaders } from "../../services/feeds/StatusReaders.ts"
import type { AccountId } from "../../services/Ids.ts"

/** How long before the feeds are written their readers may have been asked for, in milliseconds. */
export const audienceMillisMax = 200

/** A slice of a new status, and when its readers were asked for. */
interface Asked {
  readonly author: AccountId
  readonly statusId: bigint
  readonly audience: Pick<ReaderSlice, "readers" | "reblogOfId">
  readonly cursor: bigint
  /** In milliseconds since 1970. */
  readonly since: number
}

/**
 * Writes a new status into feeds and answers whose. A reader who stops following has the feed dropped; a process that
 * stood still does not see that and writes a status that does not belong there. So readers that were asked for long ago
 * are asked for once more after the write. The feeds of those who left are dropped.
 */
export const make = Effect.fnUntraced(function*(sliceRows: number) {
  const feeds = yield* Feeds
  const readers = yield* StatusReaders

  return Effect.fnUntraced(function*(
    { audience, author, cursor, since, statusId }: Asked,
    accountIds: ReadonlyArray<AccountId>
  ): Effect.fn.Return<ReadonlyArray<AccountId>, SqlError> {
    yield* feeds.push(accountIds, { id: statusId, reblogOf: audience.reblogOfId ?? undefined })
    if ((yield* Clock.currentTimeMillis) - since <= audienceMillisMax) return accountIds
    const now = yield* readers.readers(statusId, author, cursor, sliceRows)
    const stay = new Set<AccountId>([author, ...(now?.readers ?? [])])
    yield* feeds.drop(accountIds.filter((id) => !stay.has(id)))
    return accountIds.filter((id) => stay.has(id))
  })
})
