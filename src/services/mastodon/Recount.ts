import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts of local accounts and of all posts, from the rows that were copied. */
const statements = [
  `UPDATE account_stats st SET followers_count = c.followers, following_count = c.following, statuses_count = c.posts,
      last_status_at = c.last
    FROM (SELECT a.id, (SELECT count(*) FROM follows f WHERE f.target_account_id = a.id)::int AS followers,
        (SELECT count(*) FROM follows f WHERE f.account_id = a.id)::int AS following,
        (SELECT count(*) FROM statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL AND s.visibility <> 'direct')::int AS posts,
        (SELECT max(s.created_at) FROM statuses s WHERE s.account_id = a.id AND s.deleted_at IS NULL) AS last
      FROM accounts a WHERE a.domain IS NULL) c
    WHERE st.account_id = c.id`,
  `UPDATE status_stats st SET favourites_count = c.count FROM (SELECT status_id, count(*)::int AS count FROM favourites
    GROUP BY status_id) c WHERE st.status_id = c.status_id AND st.favourites_count <> c.count`,
  `UPDATE status_stats st SET reblogs_count = c.count FROM (SELECT reblog_of_id, count(*)::int AS count FROM statuses
    WHERE reblog_of_id IS NOT NULL AND deleted_at IS NULL GROUP BY reblog_of_id) c
    WHERE st.status_id = c.reblog_of_id AND st.reblogs_count <> c.count`,
  `UPDATE status_stats st SET replies_count = c.count FROM (SELECT in_reply_to_id, count(*)::int AS count FROM statuses
    WHERE in_reply_to_id IS NOT NULL AND deleted_at IS NULL AND visibility IN ('public', 'unlisted') GROUP BY in_reply_to_id) c
    WHERE st.status_id = c.in_reply_to_id AND st.replies_count <> c.count`,
  `UPDATE status_stats st SET quotes_count = c.count FROM (SELECT quoted_status_id, count(*)::int AS count FROM quotes
    WHERE state = 'accepted' AND quoted_status_id IS NOT NULL GROUP BY quoted_status_id) c
    WHERE st.status_id = c.quoted_status_id AND st.quotes_count <> c.count`
]

/** Recomputes all counters. */
export const recount = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
