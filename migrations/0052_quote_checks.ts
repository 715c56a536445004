import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Time of the last check of a quote's authorization; null if checked only on arrival. */
const statements = [
  `ALTER TABLE quotes ADD COLUMN checked_at timestamptz`,
  `CREATE INDEX quotes_unchecked ON quotes (coalesce(checked_at, created_at))
    WHERE state = 'accepted' AND authorization_uri IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
