import { Effect } from "effect"
import { NotificationWriter } from "../../services/feeds/NotificationWriter.ts"
import { type NewNotification, senderOf } from "../../services/intents/Fanouts.ts"
import type { Owners, Ownership } from "./Ownership.ts"
import * as StreamPublishing from "./StreamPublishing.ts"

/**
 * A notification by itself, in one statement that closes its intent under the owner's epoch. Undefined where somebody else
 * owns the account or has done it, and nothing is done.
 */
export const make = Effect.fnUntraced(function*({ current }: Owners) {
  const notificationWriter = yield* NotificationWriter
  const { notified } = yield* StreamPublishing.make
  return Effect.fnUntraced(function*(own: Ownership, id: bigint, notification: NewNotification) {
    const { owner } = yield* current(own)
    const written = yield* notificationWriter.tellAndClose(senderOf(own.accountId, notification), notification, {
      id,
      owner
    })
    return written && (yield* Effect.as(notified(written), true))
  })
})
