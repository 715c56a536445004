import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Order of an Undo among its sender's activities: signature dates have seconds, so within one second the order of arrival counts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tombstones ADD COLUMN undone_place bigint`
})
