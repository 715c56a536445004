import { Effect } from "effect"
import { Notices } from "../../services/feeds/Notices.ts"
import { type Notice, senderOf } from "../../services/intents/Fanouts.ts"
import type { Owners, Ownership } from "./Ownership.ts"
import * as Tellings from "./Tellings.ts"

/**
 * A notification by itself, in one statement that closes its intent under the owner's epoch. Undefined where somebody else
 * owns the account or has done it, and nothing is done.
 */
export const make = Effect.fnUntraced(function*({ current }: Owners) {
  const notices = yield* Notices
  const { told } = yield* Tellings.make
  return Effect.fnUntraced(function*(own: Ownership, id: bigint, notice: Notice) {
    const { owner } = yield* current(own)
    const written = yield* notices.lastTold(senderOf(own.accountId, notice), notice, { id, owner })
    return written && (yield* Effect.as(told(written), true))
  })
})
