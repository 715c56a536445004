import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../../services/database/Ids.ts"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import { OutgoingActivities } from "../../../services/federation/outbox/OutgoingActivities.ts"
import type { PostChange } from "../../../services/federation/outbox/Recipients.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { Deliver } from "../../../services/intents/Intent.ts"
import { DomainActors } from "../../domain/DomainActors.ts"
import type { Owners } from "../core/Ownership.ts"
import { type Slice, SliceRows } from "./Slice.ts"

/**
 * Writes the intent to tell other servers of a post, in the current transaction. `concerns`: the post has, or may have,
 * remote recipients.
 */
export const enqueuer = Effect.gen(function*() {
  const fanouts = yield* Fanouts
  const deliveryExpansion = yield* DeliveryExpansion
  return (
    accountId: AccountId,
    statusId: bigint,
    change: PostChange,
    concerns: boolean
  ): Effect.Effect<void, SqlError> =>
    concerns
      ? fanouts.enqueue(accountId, { _tag: "deliver", statusId, leaves: change, number: "0" })
      : change === "Create"
      ? Effect.void
      : deliveryExpansion.enqueueChange(accountId, statusId, change)
})

/** Fan-out to other servers: deliveries to a slice of followers. Built once per node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const outgoingActivities = yield* OutgoingActivities
  const domainActors = yield* DomainActors
  const deliveryExpansion = yield* DeliveryExpansion
  const fanouts = yield* Fanouts
  const sliceRows = yield* SliceRows

  const slice: Slice<Deliver> = Effect.fnUntraced(function*(own, at, { statusId = null, ...outgoing }) {
    if (yield* fanouts.waits(own.accountId, at.id, "deliver", statusId)) return undefined
    // Rendered outside the transaction, which must not wait: creating a sender's first key takes a while.
    const rendered = yield* outgoingActivities.render(own.accountId, statusId, outgoing)
    return yield* owned(
      own,
      Effect.gen(function*() {
        if (rendered === undefined) return yield* fanouts.complete(at)
        const { hosts, next } = yield* deliveryExpansion.slice(at.id, rendered, at, sliceRows)
        yield* sql.afterCommit(domainActors.wake(hosts))
        return next === undefined
          ? yield* fanouts.complete(at)
          : yield* fanouts.advance(at, next.phase, next.cursor)
      })
    )
  })
  return slice
})
