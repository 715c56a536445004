import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whom posts of other servers name by ids that nobody here knows; they are asked for, and then they are mentioned. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE unknown_mentions (
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    uri text NOT NULL,
    -- The post is for them too; else the mention counts for nothing.
    addressed boolean NOT NULL,
    PRIMARY KEY (status_id, uri)
  )`
})
