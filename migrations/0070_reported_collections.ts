import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Collections that a report names. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`ALTER TABLE reports ADD COLUMN collection_ids bigint[] NOT NULL DEFAULT '{}'`)
})
