import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../services/Broadcast.ts"
import { StatusReaders } from "../../../services/feeds/StatusReaders.ts"
import type { AccountId } from "../../../services/Ids.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { CardShown, Edit } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

/**
 * An edited status: notifications, streams, and the intent for other servers; one that shows its card now: streams alone, to
 * which that is an edit. Made once a node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const readers = yield* StatusReaders
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, intent: Edit | CardShown) {
    const { statusId } = intent
    const editedAt = intent._tag === "edit" ? intent.editedAt : undefined
    const slice = yield* readers.readers(statusId, accountId, at.cursor, sliceRows)
    if (slice === undefined) return yield* fanouts.complete(at)
    const first = at.phase === 0
    if (first && intent._tag === "edit") yield* open(accountId, statusId, slice, "Update")
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "status.update",
      statusId: slice.statusId,
      accountIds: first ? [accountId, ...slice.readers] : slice.readers,
      channels: first ? slice.channels : [],
      ...(editedAt === undefined ? {} : { editedAt })
    }))
    return yield* slice.cursor === undefined ? fanouts.complete(at) : fanouts.advance(at, 1, slice.cursor)
  })

  const slice: Slice<Edit | CardShown> = (own, at, intent) => delivered(own, some(own.accountId, at, intent))
  return slice
})
