import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryExpansion } from "../../services/federation/outbox/DeliveryExpansion.ts"
import { OutgoingActivities } from "../../services/federation/outbox/OutgoingActivities.ts"
import type { PostChange } from "../../services/federation/outbox/Recipients.ts"
import type { AccountId } from "../../services/Ids.ts"
import { type Fanout, Fanouts } from "../../services/intents/Fanouts.ts"
import { DomainActors } from "../domain/DomainActors.ts"
import type { Owners, Ownership } from "./Ownership.ts"

/** What an account tells followers on other servers: intents of its fan-out, a slice of them a round. */
export const make = Effect.fnUntraced(function*({ owned }: Owners, sliceRows: number) {
  const sql = yield* SqlClient.SqlClient
  const outgoingActivities = yield* OutgoingActivities
  const domainActors = yield* DomainActors
  const deliveryExpansion = yield* DeliveryExpansion
  const fanouts = yield* Fanouts

  /** Leaves the intent to tell of a post, in the running transaction; `concerns` somebody elsewhere, or may. */
  const begin = (accountId: AccountId, statusId: bigint, change: PostChange, concerns: boolean) =>
    concerns
      ? Effect.asVoid(fanouts.add(accountId, "deliver", statusId, { leaves: change, number: "0" }))
      : change === "Create"
      ? Effect.void
      : deliveryExpansion.begin(accountId, statusId, change)

  /** How a step ends: true where nothing of its intent is left; undefined where something before it is not told yet. */
  const slice = Effect.fnUntraced(function*(own: Ownership, fanout: Fanout) {
    const { cursor, details, id, phase, statusId } = fanout
    if (yield* deliveryExpansion.waits(own.accountId, id, statusId)) return undefined
    // Outside of the transaction, which may wait for nothing: a sender's first key takes a while to make.
    const rendered = details === null || !("leaves" in details)
      ? undefined
      : yield* outgoingActivities.render(own.accountId, statusId, details)
    return yield* owned(
      own,
      Effect.gen(function*() {
        if (rendered === undefined) return yield* fanouts.finish(fanout)
        const { hosts, next } = yield* deliveryExpansion.slice(id, rendered, { phase, cursor }, sliceRows)
        yield* sql.afterCommit(domainActors.wake(hosts))
        return next === undefined
          ? yield* fanouts.finish(fanout)
          : yield* fanouts.advance(fanout, next.phase, next.cursor)
      })
    )
  })
  return { begin, slice }
})
