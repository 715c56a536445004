import { Clock, Effect } from "effect"
import { AccountId } from "../../services/Ids.ts"
import { AgendaEntries } from "../../services/intents/AgendaEntries.ts"

/** Days for which something waits for consent. */
const waitingDaysMax = 90
const dayMillis = 86_400_000

/** The end of waiting for consent, as an entry of whoever decides, or of who asks somebody elsewhere. */
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
