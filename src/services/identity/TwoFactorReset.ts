import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog, type Refusal } from "../staff/AuditLog.ts"
import { requirePermission, requireRank } from "../staff/Rank.ts"
import { removeFactor } from "./ForgottenFactors.ts"
import { TwoFactorEmails } from "./TwoFactorEmails.ts"

const nameRows = rowsOf(Schema.Struct({ username: Schema.String }))

/** Removes the second factor of a user who lost phone and recovery codes, by staff or on the command line. */
export class TwoFactorReset extends Context.Service<TwoFactorReset, {
  /** Removes the factor and tells the user. `by` is undefined for the command line. */
  readonly disable: (
    accountId: AccountId,
    by: AccountId | undefined
  ) => Effect.Effect<void, Refusal>
}>()("murmuration/services/identity/TwoFactorReset") {
  static readonly layer = Layer.effect(
    TwoFactorReset,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const emails = yield* TwoFactorEmails
      const log = yield* AuditLog

      const disable = Effect.fnUntraced(
        function*(accountId: AccountId, by: AccountId | undefined) {
          if (by !== undefined) {
            yield* requireRank(sql)(yield* requirePermission(sql)(by, "manageUserAccess"), accountId)
          }
          const [user] = yield* nameRows(sql`SELECT a.username FROM users u JOIN accounts a ON a.id = u.account_id
            WHERE u.account_id = ${accountId}`)
          if (user === undefined) return yield* new RecordNotFound()
          const target = { type: "account", id: accountId, label: user.username } as const
          const act = { by, action: "disable_2fa", target } as const
          if (!(yield* removeFactor({ sql, tracked })(accountId))) {
            return yield* new AlreadyDone({ act, refusal: new RecordNotFound() })
          }
          yield* log.record(act)
          yield* sql.afterCommit(emails.send(accountId, "off"))
        },
        log.runLogged
      )
      return TwoFactorReset.of({ disable: traced("TwoFactorReset.disable")(disable) })
    })
  ).pipe(Layer.provide([AuditLog.layer, TwoFactorEmails.layer]))
}
