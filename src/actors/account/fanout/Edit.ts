import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { Broadcast } from "../../../services/events/Broadcast.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { CardShown, Edit } from "../../../services/intents/Intent.ts"
import type { Owners } from "../core/Ownership.ts"
import * as ReaderSlices from "./ReaderSlices.ts"
import { listsField } from "./ReaderSlices.ts"
import { intoDelivery, type Slice } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

/** Returns the time of an edit; undefined for a card, which changes no text. */
const editedAtOf = (intent: Edit | CardShown) => intent._tag === "edit" ? intent.editedAt : undefined

/**
 * Fan-out of an edited status: notifications, streams, and the intent for other servers. A new card is told to streams
 * only, as an edit. Built once per node.
 */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const slices = yield* ReaderSlices.make
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, intent: Edit | CardShown) {
    const { statusId } = intent
    const editedAt = editedAtOf(intent)
    const found = yield* slices.at(accountId, statusId, at)
    if (found === undefined) return yield* fanouts.complete(at)
    const { accountIds, lists, next } = found
    const first = at.phase === 0 ? found.slice : undefined
    if (first !== undefined && intent._tag === "edit") yield* open(accountId, statusId, first, "Update")
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "status.update",
      statusId: found.statusId,
      accountIds,
      ...listsField(lists),
      channels: first?.channels ?? [],
      ...(editedAt === undefined ? {} : { editedAt })
    }))
    return yield* next === undefined ? fanouts.complete(at) : fanouts.advance(at, next.phase, next.cursor)
  })

  const slice: Slice<Edit | CardShown> = Effect.fnUntraced(function*(own, at, intent) {
    const { accountId } = own
    // If a slice of the new status failed, nobody is told of its edit before it.
    const waits = at.phase === 0 && (yield* fanouts.waits(accountId, at.id, "publish", intent.statusId))
    return waits ? undefined : yield* delivered(own, some(accountId, at, intent))
  })
  return slice
})
