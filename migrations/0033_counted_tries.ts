import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Failed tries of an entry, and the time at which it was set aside.
  `ALTER TABLE agenda ADD COLUMN tries integer NOT NULL DEFAULT 0`,
  `ALTER TABLE agenda ADD COLUMN failed_at timestamptz`,
  `CREATE INDEX agenda_failed ON agenda (failed_at) WHERE failed_at IS NOT NULL`,
  // Tries and due time of a command; `due_at` is null before the first try.
  `ALTER TABLE account_intents ADD COLUMN tries integer NOT NULL DEFAULT 0`,
  `ALTER TABLE account_intents ADD COLUMN due_at timestamptz`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
