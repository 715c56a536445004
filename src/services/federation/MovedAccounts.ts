import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { Jobs } from "../intents/Jobs.ts"
import { traced } from "../runtime/Traced.ts"

const movedToRows = rowsOf(Schema.Struct({ movedTo: Schema.NullOr(Schema.String) }))

/** Redirects of remote accounts that moved. A redirect is shown if its target lists the old account as an alias. */
export class MovedAccounts extends Context.Service<MovedAccounts, {
  /** Stores the document's `movedTo`, in the transaction that stores the account. */
  readonly store: (accountId: AccountId, movedTo: string | null) => Effect.Effect<void, SqlError>
  /** Returns the id in the document's `movedTo`, or undefined. */
  readonly of: (accountId: bigint) => Effect.Effect<string | undefined>
  /** Shows the redirect to a known account if that account lists the moved one as an alias. */
  readonly link: (accountId: bigint, target: bigint) => Effect.Effect<void>
}>()("murmuration/services/federation/MovedAccounts") {
  static readonly layer = Layer.effect(
    MovedAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const jobs = yield* Jobs
      return MovedAccounts.of({
        store: traced("MovedAccounts.store")(function*(accountId, movedTo) {
          const rows = yield* sql`UPDATE remote_actors SET moved_to = ${movedTo}
            WHERE account_id = ${accountId} AND moved_to IS DISTINCT FROM ${movedTo} RETURNING account_id`
          if (rows.length === 0) return
          if (movedTo === null) {
            yield* tracked("account", [accountId])(sql`UPDATE accounts SET moved_to_id = NULL WHERE id = ${accountId}`)
          } else yield* jobs.enqueue("redirect", accountId)
        }),
        of: traced("MovedAccounts.of")(function*(accountId) {
          const [row] = yield* movedToRows(sql`
            SELECT moved_to FROM remote_actors WHERE account_id = ${accountId}`)
          return row?.movedTo ?? undefined
        }, Effect.orDie),
        link: traced("MovedAccounts.link")(function*(accountId, target) {
          yield* tracked("account", [accountId])(
            sql`UPDATE accounts a SET moved_to_id = t.id FROM accounts t LEFT JOIN remote_actors r ON r.account_id = t.id
            WHERE a.id = ${accountId} AND t.id = ${target} AND a.uri = ANY (
              CASE WHEN t.domain IS NULL THEN t.also_known_as ELSE r.also_known_as END)`
          )
        }, Effect.orDie)
      })
    })
  )
}
