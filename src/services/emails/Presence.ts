import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Minimum interval between updates of a user's last request, in milliseconds. */
export const presenceMillis = 10 * 60_000

/**
 * Records a request of a user who gets e-mails about notifications, so that none is sent while the user is here.
 * `seenAt` is the stored time; null for all other users.
 */
export const recordPresence = (
  sql: SqlClient,
  accountId: bigint,
  seenAt: Date | null,
  now: number
): Effect.Effect<void, SqlError> =>
  seenAt === null || now - seenAt.getTime() < presenceMillis
    ? Effect.void
    : Effect.asVoid(sql`UPDATE email_choices SET seen_at = ${new Date(now)} WHERE account_id = ${accountId}`)
