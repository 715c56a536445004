import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"

const day = 86_400_000
/** Grace period for moderators, in days: no data has been removed yet. */
const graceDays = 7

/**
 * Adds the missing end date to moderators' suspensions of remote accounts that their origin or a domain block had
 * suspended before. Accounts without posts and relations were already purged, or have little to purge.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const earliest = new Date((yield* Clock.currentTimeMillis) + graceDays * day)
  yield* sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
    SELECT 'suspension_end', a.id, a.id, greatest(a.suspended_at + interval '30 days', ${earliest}::timestamptz)
    FROM accounts a JOIN remote_actors r ON r.account_id = a.id
    WHERE a.suspended_at IS NOT NULL AND NOT a.suspended_by_domain AND NOT r.suspended_by_origin
      AND NOT EXISTS (SELECT FROM agenda g WHERE g.account_id = a.id AND g.kind = 'purge')
      AND (EXISTS (SELECT FROM statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL)
        OR EXISTS (SELECT FROM follows f WHERE f.account_id = a.id)
        OR EXISTS (SELECT FROM follows f WHERE f.target_account_id = a.id))
    ON CONFLICT (kind, subject_id) DO NOTHING`
})
