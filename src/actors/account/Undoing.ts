import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { StatusTargets } from "../../services/statuses/StatusTargets.ts"
import type { Ownership } from "./Ownership.ts"
import { onStatus } from "./Verbs.ts"

/**
 * Makes the verb that takes a mark of the account off a status, or off what that repeats. `take` looks up the account's own row
 * and answers whether there was any: it works although the author blocked the account (S-127). Where there was none the status
 * must be visible.
 */
export const make = Effect.map(
  StatusTargets,
  (statusTargets) =>
  <Command extends { readonly statusId: bigint }>(
    take: (own: Ownership, id: bigint, command: Command) => Effect.Effect<boolean, SqlError>
  ) =>
    Effect.fnUntraced(function*(own: Ownership, command: Command) {
      const { statusId } = command
      if (yield* take(own, statusId, command)) return onStatus(statusId)
      const { id } = yield* statusTargets.visible(own.accountId, statusId)
      if (id !== statusId) yield* take(own, id, command)
      return onStatus(id)
    })
)
