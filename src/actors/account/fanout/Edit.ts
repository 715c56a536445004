import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../services/Broadcast.ts"
import type { AccountId } from "../../../services/Ids.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { Edit } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import * as ReaderSlices from "./ReaderSlices.ts"
import { listed } from "./ReaderSlices.ts"
import { intoDelivery, type Slice } from "./Slice.ts"
import * as StatusSlice from "./StatusSlice.ts"

/** An edited status: notifications, streams, and the intent for other servers. Made once a node. */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const fanouts = yield* Fanouts
  const slices = yield* ReaderSlices.make
  const delivered = intoDelivery(owners)
  const open = yield* StatusSlice.make

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, { editedAt, statusId }: Edit) {
    const found = yield* slices.at(accountId, statusId, at)
    if (found === undefined) return yield* fanouts.complete(at)
    const { accountIds, lists, next } = found
    const opening = at.phase === 0 ? found.slice : undefined
    if (opening !== undefined) yield* open(accountId, statusId, opening, "Update")
    yield* sql.afterCommit(broadcast.publish({
      _tag: "StatusEvent",
      event: "status.update",
      statusId: found.statusId,
      accountIds,
      ...listed(lists),
      channels: opening?.channels ?? [],
      ...(editedAt === undefined ? {} : { editedAt })
    }))
    return yield* next === undefined ? fanouts.complete(at) : fanouts.advance(at, next.phase, next.cursor)
  })

  const slice: Slice<Edit> = (own, at, intent) => delivered(own, some(own.accountId, at, intent))
  return slice
})
