import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Up to which account people were written to about a version of the terms, and when the last of them was. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`ALTER TABLE document_versions ADD COLUMN emailed_after bigint, ADD COLUMN emailed_at timestamptz`)
})
