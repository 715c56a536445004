import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts of a post, by the rows that count for it, which name it in `of`. */
const postCounts = [
  { count: "favourites_count", of: "status_id", rows: "favourites", where: "true" },
  {
    count: "reblogs_count",
    of: "reblog_of_id",
    rows: "statuses",
    where: "x.reblog_of_id IS NOT NULL AND x.deleted_at IS NULL"
  },
  {
    count: "replies_count",
    of: "in_reply_to_id",
    rows: "statuses",
    where: "x.in_reply_to_id IS NOT NULL AND x.deleted_at IS NULL AND x.visibility IN ('public', 'unlisted')"
  },
  {
    count: "quotes_count",
    of: "quoted_status_id",
    rows: "quotes",
    where: "x.state = 'accepted' AND x.quoted_status_id IS NOT NULL"
  }
] as const

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
  ...postCounts.flatMap(({ count, of, rows, where }) => [
    `UPDATE status_stats st SET ${count} = c.count FROM (SELECT x.${of} AS id, count(*)::int AS count FROM ${rows} x
      WHERE ${where} GROUP BY x.${of}) c WHERE st.status_id = c.id AND st.${count} <> c.count`,
    `UPDATE status_stats st SET ${count} = 0 WHERE st.${count} > 0
      AND NOT EXISTS (SELECT FROM ${rows} x WHERE x.${of} = st.status_id AND ${where})`
  ])
]

/** Recomputes all counters. */
export const recount = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
