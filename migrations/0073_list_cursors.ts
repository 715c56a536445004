import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How far the changes of a moderation list are known, and when the whole of it was read. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE moderation_lists ADD COLUMN changes_from text, ADD COLUMN whole_at timestamptz`
})
