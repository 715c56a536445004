import { Clock, Effect } from "effect"
import { AccountId } from "../../../services/database/Ids.ts"
import { AgendaEntries } from "../../../services/intents/AgendaEntries.ts"

/** Days after which a request for approval expires. */
const waitingDaysMax = 90
const dayMillis = 86_400_000

/**
 * Expiry of requests for approval: an agenda entry of the account that decides, or of the requester if the author is
 * remote.
 */
export const make = Effect.gen(function*() {
  const agenda = yield* AgendaEntries

  return {
    begin: Effect.fnUntraced(function*(owner: bigint, requestId: bigint) {
      const dueAt = (yield* Clock.currentTimeMillis) + waitingDaysMax * dayMillis
      yield* agenda.enqueueOnce("interaction_request", requestId, AccountId.make(owner), dueAt)
    }),
    cancel: (requestId: bigint) => agenda.cancel("interaction_request", requestId)
  }
})
