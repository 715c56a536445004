import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { NotAllowed, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AlreadyDone, AuditLog } from "../staff/AuditLog.ts"
import { requirePermission, requireRank } from "../staff/Rank.ts"

const targetRows = rowsOf(
  Schema.Struct({
    username: Schema.String,
    domain: Schema.NullOr(Schema.String),
    isUser: Schema.Boolean,
    suspended: Schema.Boolean
  })
)

/** Permission to delete an account with its data, in the transaction of the deletion. */
export class Deletions extends Context.Service<Deletions, {
  /**
   * Checks the permission and returns true if the account is local. A moderator may delete suspended accounts only
   * (auth.md section 6), the operator any account.
   */
  readonly decide: (
    target: AccountId,
    by: AccountId | undefined
  ) => Effect.Effect<boolean, AlreadyDone | NotAllowed | RecordNotFound | SqlError>
}>()("murmuration/services/moderation/Deletions") {
  static readonly layer = Layer.effect(
    Deletions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const log = yield* AuditLog
      const standing = requirePermission(sql)
      const rank = requireRank(sql)
      return Deletions.of({
        decide: traced("Deletions.decide")(function*(target, by) {
          const own = by === undefined ? undefined : yield* standing(by, "deleteUserData")
          const [found] = yield* targetRows(sql`SELECT a.username, a.domain, u.account_id IS NOT NULL AS is_user,
              a.suspended_at IS NOT NULL AS suspended
            FROM accounts a LEFT JOIN users u ON u.account_id = a.id WHERE a.id = ${target}`)
          if (found === undefined) return yield* new RecordNotFound()
          const { domain, isUser, suspended, username } = found
          const isGone = domain === null && !isUser
          const label = domain === null ? username : `${username}@${domain}`
          const act = { by, action: "destroy", target: { type: "account", id: target, label } } as const
          if (own !== undefined) {
            yield* rank(own, target)
            if (isGone) return yield* new AlreadyDone({ act, refusal: new NotAllowed({}) })
            if (!suspended) return yield* new NotAllowed({})
          }
          if (isGone) return true
          yield* log.record(act)
          return domain === null
        })
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
