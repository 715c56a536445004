import { Effect } from "effect"
import { NotificationWriter } from "../../services/feeds/NotificationWriter.ts"
import { type NewNotification, senderOf } from "../../services/intents/Fanouts.ts"
import type { Owners, Ownership } from "./Ownership.ts"

/**
 * A notification by itself, in one statement that closes its intent under the owner's epoch. Undefined where somebody else
 * owns the account or has done it, and nothing is done.
 */
export const make = Effect.fnUntraced(function*({ current }: Owners) {
  const writer = yield* NotificationWriter
  return Effect.fnUntraced(function*(own: Ownership, id: bigint, notification: NewNotification) {
    const { owner } = yield* current(own)
    const sender = senderOf(own.accountId, notification)
    return (yield* writer.tellAndClose(sender, notification, { id, owner })) ? true : undefined
  })
})
