import { Effect } from "effect"
import { type Foreign, idOf, urlReader } from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Jobs } from "../../../services/intents/Jobs.ts"
import { Moves } from "../../../services/social/Moves.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"

/**
 * Handles a remote account's Move. A job verifies the target's alias and then moves the account (row 23); inside a
 * transaction of the account's actor.
 */
export const make = Effect.gen(function*() {
  const jobs = yield* Jobs
  const moves = yield* Moves
  const { outboundAllow, publicUrl } = yield* ServerConfig
  const readUrl = urlReader(outboundAllow)

  const move = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, { object, target }: Foreign) {
    const id = idOf(target) ?? ""
    const to = URL.parse(id)?.origin === publicUrl ? id : readUrl(id)?.href
    if (idOf(object) !== self.uri || to === undefined || to === self.uri) {
      return yield* ignored("not a move of the sender")
    }
    if (!(yield* moves.request(own.accountId, to))) return yield* ignored("too soon after its last move")
    yield* jobs.enqueue("move", own.accountId)
    return done
  })
  return { move }
})
