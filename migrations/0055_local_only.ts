import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Local-only posts. */
const statements = [
  `ALTER TABLE statuses ADD COLUMN local_only boolean NOT NULL DEFAULT false`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
