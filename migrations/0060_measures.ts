import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Days on which users were active, for statistics; kept for 190 days like the weeks. */
const statements = [
  `CREATE TABLE active_days (
    day date NOT NULL,
    account_id bigint NOT NULL REFERENCES users (account_id) ON DELETE CASCADE,
    PRIMARY KEY (day, account_id)
  )`,
  `INSERT INTO active_days (day, account_id)
    SELECT last_seen_at::date, account_id FROM users WHERE last_seen_at IS NOT NULL`,
  `CREATE INDEX users_created ON users (created_at)`,
  `CREATE INDEX reports_resolved ON reports (action_taken_at) WHERE action_taken_at IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
