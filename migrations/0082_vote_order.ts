import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Order of one person's votes in a poll; votes that exist keep the order of the options. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE poll_votes ADD COLUMN place integer NOT NULL DEFAULT 0`
})
