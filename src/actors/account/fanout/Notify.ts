import { Effect } from "effect"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { DoneElsewhere } from "../../../services/intents/Fanouts.ts"
import { type Notify, senderOf } from "../../../services/intents/Intent.ts"
import type { Owners } from "../Ownership.ts"
import * as StreamPublishing from "../StreamPublishing.ts"
import type { Slice } from "./Slice.ts"

/** A notification by itself, in one statement that completes its intent under the owner's epoch. Made once a node. */
export const make = Effect.fnUntraced(function*({ current, owned }: Owners) {
  const writer = yield* NotificationWriter
  const { notified } = yield* StreamPublishing.make

  const slice: Slice<Notify> = Effect.fnUntraced(function*(own, { id }, notification) {
    const { owner } = yield* current(own)
    const written = yield* writer.tellAndClose(senderOf(own.accountId, notification), notification, { id, owner })
    // Somebody else owns the account, which the transaction finds out, or has done it.
    if (written === undefined) return yield* owned(own, Effect.fail(new DoneElsewhere()))
    yield* notified(written)
    return true
  })
  return slice
})
