import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { recordPresence } from "../emails/Presence.ts"

/** Minimum interval between updates of a user's last visit, in milliseconds. */
export const visitMillis = 24 * 3_600_000

/** Stored times of a user. */
interface Visitor {
  readonly accountId: bigint
  readonly lastSeenAt: Date | null
  /** Last request of a user who gets e-mails about notifications; null for others. */
  readonly presentAt: Date | null
}

/** Returns true if a stored time is older than a day. */
export const isStale = (date: Date | null, now: number): boolean => date === null || now - date.getTime() >= visitMillis

/**
 * Records the visit of an active user, by an app or by a browser. Users who were inactive for a week get no feeds and no
 * streamed posts.
 */
export const recordVisit = Effect.fnUntraced(function*(
  sql: SqlClient,
  { accountId, lastSeenAt, presentAt }: Visitor,
  now: number
): Effect.fn.Return<void, SqlError> {
  yield* recordPresence(sql, accountId, presentAt, now)
  if (!isStale(lastSeenAt, now)) return
  const at = new Date(now)
  yield* sql`
    WITH seen AS (UPDATE users SET last_seen_at = ${at} WHERE account_id = ${accountId} RETURNING account_id),
    days AS (INSERT INTO active_days (day, account_id)
      SELECT ${at.toISOString().slice(0, 10)}::date, account_id FROM seen ON CONFLICT DO NOTHING)
    INSERT INTO weekly_logins (week, account_id)
    SELECT date_trunc('week', ${at}::timestamptz)::date, account_id FROM seen ON CONFLICT DO NOTHING`
})
