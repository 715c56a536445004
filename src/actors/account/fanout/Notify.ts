import { Effect } from "effect"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { StaleProgress } from "../../../services/intents/Fanouts.ts"
import { type Notify, senderOf } from "../../../services/intents/Intent.ts"
import type { Owners } from "../core/Ownership.ts"
import type { Slice } from "./Slice.ts"

/**
 * Writes a single notification in one statement that also completes its intent, under the owner's epoch. Built once per
 * node.
 */
export const make = Effect.fnUntraced(function*({ current, owned }: Owners) {
  const writer = yield* NotificationWriter

  const slice: Slice<Notify> = Effect.fnUntraced(function*(own, { id }, notification) {
    const { owner } = yield* current(own)
    const sender = senderOf(own.accountId, notification)
    if (yield* writer.notifyAndComplete(sender, notification, { id, owner })) return true
    // Another node owns the account, which the transaction detects, or has completed the intent.
    return yield* owned(own, Effect.fail(new StaleProgress()))
  })
  return slice
})
