import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // How often an entry was tried in vain, and when it was set aside for that.
  `ALTER TABLE agenda ADD COLUMN tries integer NOT NULL DEFAULT 0`,
  `ALTER TABLE agenda ADD COLUMN failed_at timestamptz`,
  `CREATE INDEX agenda_failed ON agenda (failed_at) WHERE failed_at IS NOT NULL`,
  // The same of a command, which is tried again at \`due_at\`; null where it was not tried yet.
  `ALTER TABLE account_intents ADD COLUMN tries integer NOT NULL DEFAULT 0`,
  `ALTER TABLE account_intents ADD COLUMN due_at timestamptz`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
