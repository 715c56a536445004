import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** When the consent to a quote was last looked at where it was given; null where that was when it came. */
const statements = [
  `ALTER TABLE quotes ADD COLUMN checked_at timestamptz`,
  `CREATE INDEX quotes_unchecked ON quotes (coalesce(checked_at, created_at))
    WHERE state = 'accepted' AND authorization_uri IS NOT NULL`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
