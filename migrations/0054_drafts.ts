import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A scheduled post without a time is a draft. */
const statements = [
  `ALTER TABLE scheduled_statuses ALTER COLUMN scheduled_at DROP NOT NULL`,
  `ALTER TABLE scheduled_statuses ADD COLUMN updated_at timestamptz`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
