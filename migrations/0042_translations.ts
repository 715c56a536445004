import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Translations of texts for a day, by what was translated, out of which language and into which. */
const statements = [
  `CREATE TABLE translations (
    key bytea PRIMARY KEY,
    details jsonb NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE INDEX translations_created ON translations (created_at)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
