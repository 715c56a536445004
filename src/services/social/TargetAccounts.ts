import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { isBlockedEitherWay, mutes } from "../visibility/HiddenAccounts.ts"

/** State of another account that an actor must check before it acts on it. */
const TargetAccount = Schema.Struct({
  id: Schema.BigInt,
  local: Schema.Boolean,
  /** Follows need approval: the account is locked or remote, mutes the caller, or the caller is limited (S-103). */
  approves: Schema.Boolean,
  moved: Schema.Boolean,
  /** The caller is a remote account. */
  foreignCaller: Schema.Boolean,
  /** The account is local, or an ActivityPub actor that can receive activities. */
  reachable: Schema.Boolean,
  /** Either account blocks the other, or the other's domain. */
  blocked: Schema.Boolean
})
type TargetAccount = typeof TargetAccount.Type
const targetAccountRows = rowsOf(TargetAccount)

export class TargetAccounts extends Context.Service<TargetAccounts, {
  /** Returns an account that is neither suspended nor unconfirmed or unapproved; fails for a suspended caller. */
  readonly find: (accountId: bigint, other: bigint) => Effect.Effect<TargetAccount, RecordNotFound | SqlError>
}>()("murmuration/services/social/TargetAccounts") {
  static readonly layer = Layer.effect(
    TargetAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return TargetAccounts.of({
        find: traced("TargetAccounts.find")(function*(accountId, other) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const [row] = yield* targetAccountRows(sql`
            SELECT a.id, a.domain IS NULL AS local, a.moved_to_id IS NOT NULL AS moved,
              me.domain IS NOT NULL AS foreign_caller,
              (a.domain IS NULL OR EXISTS (SELECT FROM remote_actors r WHERE r.account_id = a.id)) AS reachable,
              (a.locked OR a.domain IS NOT NULL OR me.silenced_at IS NOT NULL OR ${
            mutes(sql, sql`a.id`, sql`me.id`, now)
          }) AS approves,
              ${isBlockedEitherWay(sql, sql`me.id`, sql`a.id`)} AS blocked
            FROM accounts a JOIN accounts me ON me.id = ${accountId}
            LEFT JOIN users u ON u.account_id = a.id
            WHERE a.id = ${other} AND a.suspended_at IS NULL AND me.suspended_at IS NULL
              AND (a.domain IS NOT NULL OR (u.confirmed_at IS NOT NULL AND u.approved))`)
          return row ?? (yield* new RecordNotFound())
        })
      })
    })
  )
}
