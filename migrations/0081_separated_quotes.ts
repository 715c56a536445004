import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Ends quotes without approval between accounts of which one blocks the other, or the other's domain. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`WITH open AS MATERIALIZED (SELECT status_id, account_id, quoted_account_id FROM quotes
      WHERE legacy AND state = 'accepted' AND quoted_account_id <> account_id),
    separate AS (
      SELECT o.status_id FROM open o JOIN blocks b ON b.account_id = o.quoted_account_id AND b.target_account_id = o.account_id
      UNION SELECT o.status_id FROM open o
        JOIN blocks b ON b.account_id = o.account_id AND b.target_account_id = o.quoted_account_id
      UNION SELECT o.status_id FROM open o JOIN accounts a ON a.id = o.account_id
        JOIN domain_mutes d ON d.account_id = o.quoted_account_id AND d.domain = a.domain),
    ended AS (UPDATE quotes q SET state = 'rejected' FROM separate s WHERE q.status_id = s.status_id
      RETURNING q.quoted_status_id)
    UPDATE status_stats s SET quotes_count = greatest(0, s.quotes_count - e.ended)
      FROM (SELECT quoted_status_id, count(*)::int AS ended FROM ended GROUP BY 1) e
      WHERE s.status_id = e.quoted_status_id`
})
