import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { StatusTargets } from "../../services/statuses/StatusTargets.ts"
import type { Ownership } from "./Ownership.ts"
import { onStatus } from "./Verbs.ts"

/**
 * Takes a mark of the account off a status, or off what that repeats. `take` looks up the account's own row and answers whether
 * there was any: it works although the author blocked the account (S-127). Where there was none the status must be visible.
 */
export const make = Effect.map(StatusTargets, (statusTargets) =>
  Effect.fnUntraced(function*(
    { accountId }: Ownership,
    statusId: bigint,
    take: (id: bigint) => Effect.Effect<boolean, SqlError>
  ) {
    if (yield* take(statusId)) return onStatus(statusId)
    const { id } = yield* statusTargets.visible(accountId, statusId)
    if (id !== statusId) yield* take(id)
    return onStatus(id)
  }))
