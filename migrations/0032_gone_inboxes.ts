import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements = [
  // What an inbox refused last for good, about what, and how: its delivery is gone, and an operator asks why.
  `ALTER TABLE inboxes ADD COLUMN refused_at timestamptz, ADD COLUMN refused_about bigint, ADD COLUMN refusal text`,
  // Those of a host that said that they are gone, which are tried again once the host speaks.
  `CREATE INDEX inboxes_gone ON inboxes (host_id) WHERE gone_at IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
