import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../../services/database/Rows.ts"
import { Purges } from "../../../services/federation/purge/Purges.ts"
import { Deletions } from "../../../services/moderation/Deletions.ts"
import { AccountActors } from "../core/AccountActors.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount } from "../core/Verbs.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"

const suspendedRows = rowsOf(Schema.Struct({ local: Schema.Boolean }))

/** Deletes local accounts, and purges the data of any deleted account, one slice per due entry. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const actors = yield* AccountActors
  const tellFollowers = yield* TellFollowers.make
  const purges = yield* Purges
  const deletions = yield* Deletions

  const verbs = {
    DeleteAccount: Effect.fnUntraced(function*(own: Ownership, { by, own: isOwn }: Commands["DeleteAccount"]) {
      const { accountId } = own
      // The audit log is about staff: users decide on their own accounts.
      const isOurs = isOwn === true || (yield* deletions.decide(accountId, by))
      if (!isOurs) yield* purges.begin(accountId)
      else if (yield* purges.retire(accountId)) yield* tellFollowers(own, "Farewell")
      return onAccount(accountId)
    })
  }

  /** Deletes the data of an account whose suspension was not lifted in time. */
  const suspended = Effect.fnUntraced(function*(own: Ownership) {
    const { accountId } = own
    const [found] = yield* suspendedRows(sql`SELECT domain IS NULL AS local FROM accounts
      WHERE id = ${accountId} AND suspended_at IS NOT NULL AND NOT suspended_by_domain`)
    if (found === undefined) return
    // No caller waits, so there is no deadline to miss.
    if (found.local) {
      yield* Effect.catchTag(verbs.DeleteAccount(own, { _tag: "DeleteAccount" }), "AlreadyDone", Effect.die)
    } else yield* purges.empty(accountId)
  })

  return {
    verbs,
    suspended,
    /** Purges one slice, then wakes the actor for the next one instead of waiting for the agenda. */
    due: ({ accountId }: Ownership) =>
      Effect.andThen(purges.advance(accountId), sql.afterCommit(actors.wake(accountId)))
  }
})
