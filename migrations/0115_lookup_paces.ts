import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Look-ups of imports at other servers. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE lookup_paces (
    host text PRIMARY KEY,
    rested_at timestamptz NOT NULL
  )`
  yield* sql`COMMENT ON TABLE lookup_paces IS
    'Hosts at which imports look up accounts and posts, with the time at which their full allowance is restored.'`
})
