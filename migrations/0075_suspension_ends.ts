import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"

const day = 86_400_000
/** Grace for suspensions that are already older than 30 days: moderators get this long to lift them. */
const graceDays = 7

/** Suspensions by moderators end in a purge after 30 days, including existing ones. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const earliest = new Date((yield* Clock.currentTimeMillis) + graceDays * day)
  yield* sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
    SELECT 'suspension_end', a.id, a.id, greatest(a.suspended_at + interval '30 days', ${earliest}::timestamptz)
    FROM accounts a WHERE a.suspended_at IS NOT NULL AND NOT a.suspended_by_domain
      AND (a.domain IS NOT NULL OR EXISTS (SELECT FROM users u WHERE u.account_id = a.id))
      AND NOT EXISTS (SELECT FROM remote_actors r WHERE r.account_id = a.id AND r.suspended_by_origin)
    ON CONFLICT (kind, subject_id) DO NOTHING`
})
