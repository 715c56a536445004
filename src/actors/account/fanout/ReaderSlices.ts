import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { type ReaderSlice, StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import { StatusSubscribers } from "../../../services/feeds/StatusSubscribers.ts"
import type { Progress } from "../../../services/intents/Fanouts.ts"
import type { FeedTargets } from "./FeedWriting.ts"
import { SliceRows } from "./Slice.ts"

/** Phase of an intent for readers through a list or a hashtag, by the ids of their subscriptions. */
export const subscribersPhase = 3

/** A slice of a status's readers, and the start of the next slice. */
interface Readers extends FeedTargets, Pick<ReaderSlice, "statusId" | "reblogOfId"> {
  /** Absent beyond the followers. */
  readonly slice?: ReaderSlice
  readonly next: Pick<Progress, "phase" | "cursor"> | undefined
}

/**
 * Slices of a status's readers: first its author, then followers. Readers through a list or a hashtag come with the
 * last followers, and in slices of their own. A status without list or hashtag readers takes one query. Built once per
 * node.
 */
export const make = Effect.gen(function*() {
  const readers = yield* StatusReaders
  const subscribers = yield* StatusSubscribers
  const sliceRows = yield* SliceRows

  const subscribersSlice = Effect.fnUntraced(function*(author: AccountId, statusId: bigint, cursor: bigint) {
    const found = yield* subscribers.page(author, statusId, cursor, sliceRows)
    return found && {
      statusId: found.statusId,
      reblogOfId: found.reblogOfId,
      accountIds: found.readers,
      lists: found.lists,
      next: found.cursor === undefined ? undefined : { phase: subscribersPhase, cursor: found.cursor }
    }
  })

  /** Returns a slice of followers, with the first list and hashtag readers if it is the last one. */
  const followersSlice = Effect.fnUntraced(
    function*(author: AccountId, slice: ReaderSlice, first: boolean): Effect.fn.Return<Readers, SqlError> {
      const { cursor, reblogOfId, statusId } = slice
      const others = cursor === undefined && slice.subscribed
        ? yield* subscribersSlice(author, statusId, 0n)
        : undefined
      const excluded = slice.subscribed ? yield* subscribers.excluding(statusId, slice.readers) : undefined
      const followers = excluded === undefined ? slice.readers : slice.readers.filter((id) => !excluded.has(id))
      return {
        slice,
        statusId,
        reblogOfId,
        accountIds: [...(first ? [author] : []), ...followers, ...(others?.accountIds ?? [])],
        lists: others?.lists ?? [],
        next: cursor === undefined ? others?.next : { phase: 1, cursor }
      }
    }
  )

  return {
    followersSlice,
    /** Returns the slice at a cursor; undefined if the status is deleted. */
    at: Effect.fnUntraced(function*(
      author: AccountId,
      statusId: bigint,
      { cursor, phase }: Pick<Progress, "phase" | "cursor">
    ): Effect.fn.Return<Readers | undefined, SqlError> {
      if (phase === subscribersPhase) return yield* subscribersSlice(author, statusId, cursor)
      const slice = yield* readers.readers(statusId, author, cursor, sliceRows)
      return slice && (yield* followersSlice(author, slice, phase === 0))
    })
  }
})

/** Returns the `lists` field of a broadcast message; empty without lists. */
export const listsField = (lists: ReadonlyArray<bigint>): { readonly lists?: ReadonlyArray<bigint> } =>
  lists.length === 0 ? {} : { lists }
