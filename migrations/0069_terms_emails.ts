import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Progress of emailing users about new terms: the last account, and the time of completion. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`ALTER TABLE document_versions ADD COLUMN emailed_after bigint, ADD COLUMN emailed_at timestamptz`)
})
