import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type AccountId, StatusId } from "../../../services/database/Ids.ts"
import { Broadcast } from "../../../services/events/Broadcast.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import { StatusSubscribers } from "../../../services/feeds/StatusSubscribers.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Delete } from "../../../services/intents/Intent.ts"
import { ConversationWriter } from "../../../services/statuses/ConversationWriter.ts"
import { Reblogs } from "../../../services/statuses/Reblogs.ts"
import type { Owners } from "../core/Ownership.ts"
import * as Deliver from "./Deliver.ts"
import { listsField, subscribersPhase } from "./ReaderSlices.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"
import * as StreamPublishing from "./StreamPublishing.ts"

/** Fan-out of a deleted status: removes its reblogs, then tells the streams of all followers. Built once per node. */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const conversations = yield* ConversationWriter
  const fanouts = yield* Fanouts
  const readers = yield* StatusReaders
  const subscribers = yield* StatusSubscribers
  const reblogs = yield* Reblogs
  const writer = yield* NotificationWriter
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const deliver = yield* Deliver.enqueuer
  const { conversationsChanged } = yield* StreamPublishing.make

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, statusId: bigint) {
    const { cursor, phase } = at
    if (phase === 0) {
      yield* conversationsChanged(yield* conversations.erase(statusId))
      const gone = yield* reblogs.removeAll(statusId, cursor, sliceRows, yield* Clock.currentTimeMillis)
      yield* writer.retract(gone)
      const last = gone.at(-1)
      if (cursor === 0n) yield* deliver(accountId, statusId, "Delete", false)
      return yield* last === undefined || gone.length < sliceRows
        ? fanouts.advance(at, 1, 0n)
        : fanouts.advance(at, 0, last)
    }
    const slice = phase === subscribersPhase
      ? { statusId: StatusId.make(statusId), readers: [], channels: [], cursor: undefined }
      : yield* readers.followers(accountId, statusId, cursor, sliceRows)
    const others = slice.cursor === undefined
      ? yield* subscribers.ofDeleted(accountId, statusId, phase === subscribersPhase ? cursor : 0n, sliceRows)
      : undefined
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusDeleted",
      statusId: slice.statusId,
      authorId: accountId,
      accountIds: [...(phase === 1 ? [accountId] : []), ...slice.readers, ...(others?.readers ?? [])],
      ...listsField(others?.lists ?? []),
      channels: phase === 1 ? slice.channels : []
    }))
    if (slice.cursor !== undefined) return yield* fanouts.advance(at, 2, slice.cursor)
    return yield* others?.cursor === undefined
      ? fanouts.complete(at)
      : fanouts.advance(at, subscribersPhase, others.cursor)
  })

  const slice: Slice<Delete> = (own, at, { statusId }) => delivered(own, some(own.accountId, at, statusId))
  return slice
})
