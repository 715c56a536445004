import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { StatusTargets } from "../../../services/statuses/StatusTargets.ts"
import type { Ownership } from "../core/Ownership.ts"
import { onStatus } from "../core/Verbs.ts"

/**
 * Builds the verb that removes the account's favourite, reblog or reaction from a status, or from the status that it
 * boosts. `remove` removes the account's own row and returns true if there was one: that works even if the author blocked
 * the account (S-127). Without a row the status must be visible.
 */
export const make = Effect.map(
  StatusTargets,
  (statusTargets) =>
  <Command extends { readonly statusId: bigint }>(
    remove: (own: Ownership, id: bigint, command: Command) => Effect.Effect<boolean, SqlError>
  ) =>
    Effect.fnUntraced(function*(own: Ownership, command: Command) {
      const { statusId } = command
      if (yield* remove(own, statusId, command)) return onStatus(statusId)
      const { id } = yield* statusTargets.visible(own.accountId, statusId)
      if (id !== statusId) yield* remove(own, id, command)
      return onStatus(id)
    })
)
