import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Quotes of held posts are not counted until the posts are published. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE status_stats s SET quotes_count = greatest(0, s.quotes_count - c.quotes)
    FROM (SELECT q.quoted_status_id, count(*)::int AS quotes
      FROM (SELECT status_id FROM held_posts
        UNION SELECT interaction_id FROM interaction_requests WHERE state = 'pending' AND interaction_id IS NOT NULL) held
      JOIN statuses p ON p.id = held.status_id AND p.deleted_at IS NULL
      JOIN quotes q ON q.status_id = held.status_id AND q.state = 'accepted' GROUP BY 1) c
    WHERE s.status_id = c.quoted_status_id`
})
