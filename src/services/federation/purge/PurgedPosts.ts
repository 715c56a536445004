import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { isHeldPost } from "../../statuses/HeldStatuses.ts"
import { isReported } from "./PurgedRows.ts"

/** Maximum posts that one slice removes, and maximum reblogs of them that are removed before. */
export const postsMax = 100
const reblogsMax = 500

const Gone = Schema.Struct({ id: Schema.BigInt, parentId: Schema.NullOr(Schema.BigInt) })
type Gone = typeof Gone.Type
const goneRows = rowsOf(Gone)

/** Deletes posts and their dependent rows. Corrects the counters of their parents and originals. */
const remove = Effect.fnUntraced(function*(sql: SqlClient, ids: ReadonlyArray<bigint>) {
  yield* sql`DELETE FROM media_attachments WHERE status_id = ANY (${ids}::bigint[])`
  // Activities that were not sent yet are no longer needed.
  yield* sql`DELETE FROM deliveries WHERE activity_id IN (
    SELECT id FROM outgoing_activities WHERE about = ANY (${ids}::bigint[]))`
  yield* sql`DELETE FROM reaches WHERE about = ANY (${ids}::bigint[])`
  yield* sql`DELETE FROM agenda WHERE kind IN ('poll_end', 'poll_update') AND subject_id = ANY (${ids}::bigint[])`
  yield* sql`DELETE FROM notifications WHERE status_id = ANY (${ids}::bigint[]) AND status_id <> 0`
  yield* sql`UPDATE account_conversations c SET status_ids = kept.ids, last_status_id = coalesce(kept.ids[1], 0)
    FROM (SELECT w.id, ARRAY(SELECT x FROM unnest(w.status_ids) x WHERE x <> ALL (${ids}::bigint[]) ORDER BY x DESC) AS ids
      FROM account_conversations w WHERE w.conversation_id IN (
        SELECT conversation_id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND visibility = 'direct')
        AND w.status_ids && ${ids}::bigint[]) kept
    WHERE c.id = kept.id`
  yield* sql`DELETE FROM account_conversations WHERE last_status_id = 0 AND conversation_id IN (
    SELECT conversation_id FROM statuses WHERE id = ANY (${ids}::bigint[]) AND visibility = 'direct')`
  return yield* goneRows(sql`
    WITH gone AS (DELETE FROM statuses WHERE id = ANY (${ids}::bigint[])
      RETURNING id, account_id, in_reply_to_id, reblog_of_id,
        deleted_at IS NULL AND NOT ${isHeldPost(sql, "statuses")} AS counts),
    figures AS MATERIALIZED (SELECT status_id, sum(replies)::int AS replies, sum(reblogs)::int AS reblogs,
        sum(quotes)::int AS quotes FROM (
      SELECT in_reply_to_id AS status_id, 1 AS replies, 0 AS reblogs, 0 AS quotes FROM gone WHERE counts
      UNION ALL SELECT reblog_of_id, 0, 1, 0 FROM gone WHERE counts
      UNION ALL SELECT q.quoted_status_id, 0, 0, 1 FROM gone JOIN quotes q ON q.status_id = gone.id
        WHERE gone.counts AND q.state = 'accepted') sides
      WHERE status_id IS NOT NULL GROUP BY status_id),
    authors AS MATERIALIZED (SELECT account_id, count(*)::int AS statuses FROM gone WHERE counts GROUP BY account_id),
    locked_authors AS MATERIALIZED (SELECT account_id FROM account_stats WHERE account_id IN (SELECT account_id FROM authors)
      ORDER BY account_id FOR UPDATE),
    counted AS (UPDATE account_stats s SET statuses_count = s.statuses_count - a.statuses
      FROM authors a JOIN locked_authors USING (account_id) WHERE s.account_id = a.account_id),
    locked AS MATERIALIZED (SELECT status_id FROM status_stats WHERE status_id IN (SELECT status_id FROM figures)
      ORDER BY status_id FOR UPDATE),
    changed AS (UPDATE status_stats s SET replies_count = s.replies_count - f.replies,
      reblogs_count = s.reblogs_count - f.reblogs, quotes_count = s.quotes_count - f.quotes
      FROM figures f JOIN locked USING (status_id) WHERE s.status_id = f.status_id)
    SELECT id, coalesce(in_reply_to_id, reblog_of_id) AS parent_id FROM gone`)
})

/**
 * Removes a slice of the account's posts, reblogs of them first. Returns the ids of changed statuses; empty if only
 * posts in open reports are left.
 */
export const deleteBatch = Effect.fnUntraced(function*(sql: SqlClient, accountId: bigint) {
  const rows = yield* idRows(sql`SELECT s.id FROM statuses s WHERE s.account_id = ${accountId}
    AND NOT ${isReported(sql, "s")} ORDER BY s.id LIMIT ${sql.literal(String(postsMax))}`)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const reblogs = yield* idRows(sql`SELECT id FROM statuses WHERE reblog_of_id = ANY (${ids}::bigint[])
    AND id <> ALL (${ids}::bigint[]) LIMIT ${sql.literal(String(reblogsMax))}`)
  const gone = yield* remove(sql, reblogs.length > 0 ? reblogs.map(({ id }) => id) : ids)
  return gone.flatMap(({ id, parentId }) => parentId === null ? [id] : [id, parentId])
})
