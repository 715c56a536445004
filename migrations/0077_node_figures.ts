import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Figures that each node of a cluster reports, for staff on any node. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`CREATE TABLE node_figures (
    address text PRIMARY KEY, actors integer NOT NULL, shards integer NOT NULL, reported_at timestamptz NOT NULL)`)
})
