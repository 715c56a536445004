import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Position in the changes of a moderation list, and time of the last full read. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE moderation_lists ADD COLUMN changes_from text, ADD COLUMN whole_at timestamptz`
})
