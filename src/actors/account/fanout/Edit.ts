import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../services/Broadcast.ts"
import { StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import { StatusSubscribers } from "../../../services/feeds/StatusSubscribers.ts"
import type { AccountId } from "../../../services/Ids.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { CardShown, Edit } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import { beyondFollowers, listed } from "./Beyond.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

/** When it was edited; a card changes no text. */
const editedAtOf = (intent: Edit | CardShown) => intent._tag === "edit" ? intent.editedAt : undefined

/**
 * An edited status: notifications, streams, and the intent for other servers; one that shows its card now: streams alone, to
 * which that is an edit. Made once a node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const readers = yield* StatusReaders
  const subscribers = yield* StatusSubscribers
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make

  /** The next slice of those who get it over a list or a hashtag, beyond the first. */
  const more = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, intent: Edit | CardShown) {
    const { statusId } = intent
    const editedAt = editedAtOf(intent)
    const found = yield* subscribers.page(accountId, statusId, at.cursor, sliceRows)
    if (found === undefined) return yield* fanouts.complete(at)
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "status.update",
      statusId: found.statusId,
      accountIds: found.readers,
      ...listed(found.lists),
      channels: [],
      ...(editedAt === undefined ? {} : { editedAt })
    }))
    return yield* found.cursor === undefined
      ? fanouts.complete(at)
      : fanouts.advance(at, beyondFollowers, found.cursor)
  })

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, intent: Edit | CardShown) {
    const { statusId } = intent
    const editedAt = editedAtOf(intent)
    const slice = yield* readers.readers(statusId, accountId, at.cursor, sliceRows)
    if (slice === undefined) return yield* fanouts.complete(at)
    const first = at.phase === 0
    const others = slice.cursor === undefined ? slice.others : undefined
    if (first && intent._tag === "edit") yield* open(accountId, statusId, slice, "Update")
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "status.update",
      statusId: slice.statusId,
      accountIds: [...(first ? [accountId] : []), ...slice.readers, ...(others?.readers ?? [])],
      ...listed(others?.lists ?? []),
      channels: first ? slice.channels : [],
      ...(editedAt === undefined ? {} : { editedAt })
    }))
    if (slice.cursor !== undefined) return yield* fanouts.advance(at, 1, slice.cursor)
    return yield* others?.cursor === undefined
      ? fanouts.complete(at)
      : fanouts.advance(at, beyondFollowers, others.cursor)
  })

  const slice: Slice<Edit | CardShown> = (own, at, intent) =>
    delivered(own, (at.phase === beyondFollowers ? more : some)(own.accountId, at, intent))
  return slice
})
