import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Inboxes of a post beyond which none is noted that it was given to. */
const givenMax = 20_000

/**
 * Notes that the server of an account was given a post, of which `post` selects the `id`, otherwise than by a delivery. Its
 * edits and its end go there, even where a delivery of the post still waits and will never leave (I10).
 */
export const given = (sql: SqlClient, post: Fragment, accountId: bigint) =>
  sql`INSERT INTO reaches (about, inbox_ids, given_to)
    SELECT p.id, ARRAY[r.inbox_id], ARRAY[r.inbox_id] FROM (${post}) p, remote_actors r
    WHERE r.account_id = ${accountId} AND r.inbox_id IS NOT NULL
    ON CONFLICT (about) DO UPDATE SET given_to = reaches.given_to || excluded.given_to, inbox_ids = reaches.inbox_ids ||
      ARRAY(SELECT unnest(excluded.inbox_ids) EXCEPT SELECT unnest(reaches.inbox_ids))
    WHERE NOT reaches.given_to @> excluded.given_to AND cardinality(reaches.given_to) < ${givenMax}`
