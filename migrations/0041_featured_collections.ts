import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Where a remote account lists its collections of accounts. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE remote_actors ADD COLUMN featured_collections_url text`
})
