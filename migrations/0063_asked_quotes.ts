import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Quotes waiting for approval, as their approver reads them. */
const statements = [
  `CREATE INDEX quotes_waiting ON quotes (quoted_account_id, status_id) WHERE state = 'pending' AND quoted_account_id IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
