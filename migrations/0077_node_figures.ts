import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What each node of a cluster says of itself, for staff who look at any of them. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE node_figures (
    address text PRIMARY KEY, actors integer NOT NULL, shards integer NOT NULL, reported_at timestamptz NOT NULL)`)
})
