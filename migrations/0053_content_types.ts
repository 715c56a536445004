import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Format of a text: plain or Markdown. */
const statements = [
  `ALTER TABLE statuses ADD COLUMN content_type text NOT NULL DEFAULT 'text/plain'`,
  `ALTER TABLE status_edits ADD COLUMN content_type text NOT NULL DEFAULT 'text/plain'`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
