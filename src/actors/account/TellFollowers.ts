import { Clock, Effect } from "effect"
import { Expansions } from "../../services/federation/outbox/Expansions.ts"
import type { Departure } from "../../services/intents/Fanouts.ts"
import * as Backlog from "./Backlog.ts"
import type { Ownership } from "./Ownership.ts"

/**
 * Leaves the intent to tell an account's followers elsewhere what it did, in the running transaction of its command; nothing
 * where it has none, or is not ours. Made once a node.
 */
export const make = Effect.gen(function*() {
  const expansions = yield* Expansions
  return Effect.fnUntraced(
    function*(own: Ownership, leaves: Departure["leaves"], statusId: bigint | null = null, target?: string) {
      const number = String(yield* Clock.currentTimeMillis)
      const departure = target === undefined ? { leaves, number } : { leaves, number, target }
      const intent = yield* expansions.tellFollowers(own.accountId, statusId, departure)
      if (intent !== undefined) Backlog.wrote(own.backlog, intent)
    }
  )
})
