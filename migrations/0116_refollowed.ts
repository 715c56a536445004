import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Last time when the follows of a remote account were sent again, because all its keys had changed. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE remote_actors ADD COLUMN refollowed_at timestamptz`
})
