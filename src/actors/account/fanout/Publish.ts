import { Clock, Effect, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { millisOf } from "../../../services/database/Ids.ts"
import { Broadcast } from "../../../services/events/Broadcast.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { fewReadersMax, StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Publish } from "../../../services/intents/Intent.ts"
import type { Owners, Ownership } from "../core/Ownership.ts"
import * as FeedWriting from "./FeedWriting.ts"
import * as ReaderSlices from "./ReaderSlices.ts"
import { listsField } from "./ReaderSlices.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

const lag = Metric.histogram("murmuration_fanout_seconds", {
  description: "Time from a post to the end of its fan-out into homes, lists and notifications",
  boundaries: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300]
})

/**
 * Fan-out of a new status: homes, lists, notifications, streams, and the intent for other servers. Built once per node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const { current, ownerRow } = owners
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const readers = yield* StatusReaders
  const slices = yield* ReaderSlices.make
  const writer = yield* NotificationWriter
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make
  const push = yield* FeedWriting.make

  /** Processes the next slice of readers, in a transaction of the owner. */
  const publishSlice = Effect.fnUntraced(function*({ accountId }: Ownership, at: Progress, statusId: bigint) {
    const since = yield* Clock.currentTimeMillis
    const ask = slices.at(accountId, statusId, at)
    const found = yield* ask
    if (found === undefined) return yield* fanouts.complete(at)
    const { next, slice } = found
    const opening = at.phase === 0 ? slice : undefined
    if (opening !== undefined) yield* open(accountId, statusId, opening, "Create")
    const { accountIds, lists } = yield* push({ ...found, since, reread: ask }, found)
    if (slice !== undefined && slice.subscribers.length > 0) {
      yield* writer.notifyReaders("status", accountId, statusId, slice.subscribers)
    }
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: found.statusId,
      accountIds,
      ...listsField(lists),
      channels: opening?.channels ?? []
    }))
    return yield* next === undefined ? fanouts.complete(at) : fanouts.advance(at, next.phase, next.cursor)
  })

  /**
   * Publishes a status with few readers, as most have. After the feeds, one statement notifies the mentioned accounts
   * and completes the intent. That statement is its own transaction, under the owner's epoch. Undefined if the status
   * needs more than that.
   */
  const publishAtOnce = Effect.fnUntraced(function*(own: Ownership, { id }: Progress, statusId: bigint) {
    const { accountId } = own
    const since = yield* Clock.currentTimeMillis
    const ask = sliceRows < fewReadersMax
      ? readers.readers(statusId, accountId, 0n, sliceRows)
      : readers.fewReaders(statusId, accountId)
    const slice = yield* ask
    if (slice === undefined || slice.cursor !== undefined || slice.subscribers.length > 0) return undefined
    if (slice.visibility === "direct" || slice.federates) return undefined
    const whole = yield* slices.followersSlice(accountId, slice, true)
    if (whole.next !== undefined) return undefined
    const reread = slices.at(accountId, statusId, { phase: 0, cursor: 0n })
    const { accountIds, lists } = yield* push({ ...whole, since, reread }, whole)
    const completing = slice.mentioned.length === 0 ? undefined : fanouts.completing(id, yield* ownerRow(own))
    const completed = completing === undefined
      ? yield* fanouts.completeAlone({ id, owner: (yield* current(own)).owner })
      : yield* writer.notifyReadersAndComplete("mention", accountId, statusId, slice.mentioned, completing)
    // Another node owns the account or has completed the intent; the transaction finds out.
    if (!completed) return undefined
    yield* broadcast.publish({
      _tag: "StatusEvent",
      event: "update",
      statusId: slice.statusId,
      accountIds,
      ...listsField(lists),
      channels: slice.channels
    })
    return true
  })

  const slice: Slice<Publish> = Effect.fnUntraced(function*(own, at, { statusId }) {
    const done = at.phase === 0 ? yield* publishAtOnce(own, at, statusId) : undefined
    const over = done ?? (yield* delivered(own, publishSlice(own, at, statusId)))
    if (over === true) yield* Metric.update(lag, ((yield* Clock.currentTimeMillis) - millisOf(statusId)) / 1_000)
    return over
  })
  return slice
})
