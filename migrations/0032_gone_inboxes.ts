import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // Last permanent refusal of an inbox, with its subject and reason, for operators; the delivery itself is deleted.
  `ALTER TABLE inboxes ADD COLUMN refused_at timestamptz, ADD COLUMN refused_about bigint, ADD COLUMN refusal text`,
  // Inboxes that answered 410, retried once the host responds again.
  `CREATE INDEX inboxes_gone ON inboxes (host_id) WHERE gone_at IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
