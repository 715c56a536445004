import { Effect } from "effect"
import type { AccountId } from "../../../services/database/Ids.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { Fanouts, type Progress } from "../../../services/intents/Fanouts.ts"
import type { PollEnd } from "../../../services/intents/Intent.ts"
import { Polls } from "../../../services/statuses/Polls.ts"
import type { Owners } from "../core/Ownership.ts"
import * as Deliver from "./Deliver.ts"
import { intoDelivery, type Slice, SliceRows } from "./Slice.ts"

/** Fan-out of an ended poll: notifies the author first, then slices of voters by id. Built once per node. */
export const make = Effect.fnUntraced(function*(owners: Owners) {
  const fanouts = yield* Fanouts
  const polls = yield* Polls
  const writer = yield* NotificationWriter
  const sliceRows = yield* SliceRows
  const delivered = intoDelivery(owners)
  const deliver = yield* Deliver.enqueuer

  const some = Effect.fnUntraced(function*(accountId: AccountId, at: Progress, statusId: bigint) {
    const { cursor, phase } = at
    const voters = yield* polls.voters(statusId, cursor, sliceRows)
    if (phase === 0) yield* deliver(accountId, statusId, "Update", false)
    yield* writer.notifyReaders("poll", accountId, statusId, phase === 0 ? [accountId, ...voters] : voters)
    const last = voters.at(-1)
    return yield* last === undefined || voters.length < sliceRows
      ? fanouts.complete(at)
      : fanouts.advance(at, 1, last)
  })

  const slice: Slice<PollEnd> = (own, at, { statusId }) => delivered(own, some(own.accountId, at, statusId))
  return slice
})
