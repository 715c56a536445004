import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Place of an Undo among its sender's activities: signatures have seconds, and within one the order of arrival decides. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tombstones ADD COLUMN undone_place bigint`
})
