import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Deleted and undone ids expire at different times. */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX tombstones_deleted ON tombstones (deleted_at) WHERE undone_at IS NULL`
  yield* sql`CREATE INDEX tombstones_undone ON tombstones (deleted_at) WHERE undone_at IS NOT NULL`
})
