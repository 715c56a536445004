import { Effect } from "effect"
import type { RowWriter } from "../database/CachedTables.ts"
import type { AccountId } from "../database/Ids.ts"

/**
 * Deletes the user's second factor in the current transaction, with recovery codes and pending sign-ins. Returns true
 * if there was one.
 */
export const removeFactor = ({ sql, tracked }: RowWriter) =>
  Effect.fnUntraced(function*(accountId: AccountId) {
    const had = yield* tracked("user", [accountId])(
      sql`UPDATE users SET otp_secret = NULL, otp_enabled_at = NULL, otp_last_step = NULL
      WHERE account_id = ${accountId} AND otp_enabled_at IS NOT NULL RETURNING 1`
    )
    yield* sql`DELETE FROM recovery_codes WHERE account_id = ${accountId}`
    yield* sql`DELETE FROM pending_sign_ins WHERE account_id = ${accountId}`
    return had.length > 0
  })
