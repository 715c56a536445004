import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Asks search engines to leave out a profile. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE users ADD COLUMN noindex boolean NOT NULL DEFAULT false`
})
