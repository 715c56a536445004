import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Maximum recorded inboxes per post. */
const givenMax = 20_000

/**
 * Records that an account's server was given a post, other than by a delivery; `post` selects its `id`. The server gets
 * the post's edits and deletion, even if a delivery of the post is still waiting and is cancelled (I10).
 */
export const recordReach = (sql: SqlClient, post: Fragment, accountId: bigint) =>
  sql`INSERT INTO reaches (about, inbox_ids, given_to)
    SELECT p.id, ARRAY[r.inbox_id], ARRAY[r.inbox_id] FROM (${post}) p, remote_actors r
    WHERE r.account_id = ${accountId} AND r.inbox_id IS NOT NULL
    ON CONFLICT (about) DO UPDATE SET given_to = reaches.given_to || excluded.given_to, inbox_ids = reaches.inbox_ids ||
      ARRAY(SELECT unnest(excluded.inbox_ids) EXCEPT SELECT unnest(reaches.inbox_ids))
    WHERE NOT reaches.given_to @> excluded.given_to AND cardinality(reaches.given_to) < ${givenMax}`
