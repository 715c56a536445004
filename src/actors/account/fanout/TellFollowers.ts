import { Clock, Effect } from "effect"
import { DeliveryExpansion } from "../../../services/federation/outbox/DeliveryExpansion.ts"
import type { OutgoingActivity } from "../../../services/intents/Intent.ts"
import * as Backlog from "../core/Backlog.ts"
import type { Ownership } from "../core/Ownership.ts"

/**
 * Writes the intent to tell an account's remote followers what it did, in the current transaction. No intent is written
 * without remote followers, or for a remote account. Built once per node.
 */
export const make = Effect.gen(function*() {
  const deliveryExpansion = yield* DeliveryExpansion
  return Effect.fnUntraced(
    function*(own: Ownership, leaves: OutgoingActivity["leaves"], statusId: bigint | null = null, target?: string) {
      const number = String(yield* Clock.currentTimeMillis)
      const activity = target === undefined ? { leaves, number } : { leaves, number, target }
      const intent = yield* deliveryExpansion.tellFollowers(own.accountId, statusId, activity)
      if (intent !== undefined) Backlog.addWritten(own.backlog, intent)
    }
  )
})
