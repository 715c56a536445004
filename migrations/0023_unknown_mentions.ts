import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Mentions in remote posts of ids unknown here; they are looked up and become mentions then. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE unknown_mentions (
    status_id bigint NOT NULL REFERENCES statuses (id) ON DELETE CASCADE,
    uri text NOT NULL,
    -- True if the post also addresses the account; otherwise the mention has no effect.
    addressed boolean NOT NULL,
    PRIMARY KEY (status_id, uri)
  )`
})
