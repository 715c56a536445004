import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../services/Broadcast.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { fewReadersMax, type ReaderSlice, StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import { StatusSubscribers } from "../../../services/feeds/StatusSubscribers.ts"
import type { AccountId } from "../../../services/Ids.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Publish } from "../../../services/intents/Intent.ts"
import * as FeedWriting from "../FeedWriting.ts"
import type { Owners, Ownership } from "../Ownership.ts"
import { beyondFollowers, listed } from "./Beyond.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

/**
 * A new status: homes, lists, notifications, streams, and the intent for other servers. The first who get it over a list or a
 * hashtag come with the last slice of followers, the others in slices of their own (`beyondFollowers`). Made once a node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const { current, ownerRow } = owners
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const readers = yield* StatusReaders
  const subscribers = yield* StatusSubscribers
  const writer = yield* NotificationWriter
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make
  const push = yield* FeedWriting.make

  /** The next slice of its readers, in a transaction of the owner. */
  const some = Effect.fnUntraced(function*({ accountId }: Ownership, at: Progress, statusId: bigint) {
    const { cursor, phase } = at
    const since = yield* Clock.currentTimeMillis
    const first = phase === 0
    const ask = readers.readers(statusId, accountId, cursor, sliceRows)
    const slice = yield* ask
    if (slice === undefined) return yield* fanouts.complete(at)
    if (first) yield* open(accountId, statusId, slice, "Create")
    const again = Effect.map(ask, audienceOf(accountId, first))
    const { accountIds, lists } = yield* push({ ...slice, since, again }, audienceOf(accountId, first)(slice))
    if (slice.subscribers.length > 0) yield* writer.tellReaders("status", accountId, statusId, slice.subscribers)
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: slice.statusId,
      accountIds,
      ...listed(lists),
      channels: first ? slice.channels : []
    }))
    if (slice.cursor !== undefined) return yield* fanouts.advance(at, 1, slice.cursor)
    const { cursor: others } = slice.others
    return yield* others === undefined ? fanouts.complete(at) : fanouts.advance(at, beyondFollowers, others)
  })

  /** The next slice of those who get it over a list or a hashtag, where they are many. */
  const more = Effect.fnUntraced(function*({ accountId }: Ownership, at: Progress, statusId: bigint) {
    const since = yield* Clock.currentTimeMillis
    const ask = subscribers.page(accountId, statusId, at.cursor, sliceRows)
    const found = yield* ask
    if (found === undefined) return yield* fanouts.complete(at)
    const again = Effect.map(ask, (now) => ({ accountIds: now?.readers ?? [], lists: now?.lists ?? [] }))
    const audience = { accountIds: found.readers, lists: found.lists }
    const { accountIds, lists } = yield* push({ ...found, since, again }, audience)
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: found.statusId,
      accountIds,
      ...listed(lists),
      channels: []
    }))
    return yield* found.cursor === undefined
      ? fanouts.complete(at)
      : fanouts.advance(at, beyondFollowers, found.cursor)
  })

  /**
   * A new status with few readers, as most are: after the feeds, one statement tells whom it mentions and completes the
   * intent, a transaction of its own that does both under the owner's epoch or nothing. Undefined where it takes more than
   * that, and nothing is done.
   */
  const all = Effect.fnUntraced(function*(own: Ownership, { id }: Progress, statusId: bigint) {
    const { accountId } = own
    const since = yield* Clock.currentTimeMillis
    const ask = sliceRows < fewReadersMax
      ? readers.readers(statusId, accountId, 0n, sliceRows)
      : readers.fewReaders(statusId, accountId)
    const slice = yield* ask
    if (slice === undefined || slice.cursor !== undefined || slice.subscribers.length > 0) return undefined
    if (slice.others.cursor !== undefined) return undefined
    if (slice.visibility === "direct" || slice.federates) return undefined
    const again = Effect.map(ask, audienceOf(accountId, true))
    const { accountIds, lists } = yield* push({ ...slice, since, again }, audienceOf(accountId, true)(slice))
    const completing = slice.mentioned.length === 0 ? undefined : fanouts.completing(id, yield* ownerRow(own))
    const completed = completing === undefined
      ? yield* fanouts.completeAlone({ id, owner: (yield* current(own)).owner })
      : yield* writer.tellReadersAndComplete("mention", accountId, statusId, slice.mentioned, completing)
    // Somebody else owns the account or has done it; the transaction finds out.
    if (!completed) return undefined
    yield* broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: slice.statusId,
      accountIds,
      ...listed(lists),
      channels: slice.channels
    })
    return true
  })

  const slice: Slice<Publish> = Effect.fnUntraced(function*(own, at, { statusId }) {
    const done = at.phase === 0 ? yield* all(own, at, statusId) : undefined
    return done ??
      (yield* delivered(own, at.phase === beyondFollowers ? more(own, at, statusId) : some(own, at, statusId)))
  })
  return slice
})

/** Those of a slice who get the status: its author with the first followers, and the first others with the last ones. */
const audienceOf = (author: AccountId, first: boolean) => (slice: ReaderSlice | undefined): FeedWriting.Audience => {
  const others = slice?.cursor === undefined ? slice?.others : undefined
  return {
    accountIds: [...(first ? [author] : []), ...(slice?.readers ?? []), ...(others?.readers ?? [])],
    lists: others?.lists ?? []
  }
}
