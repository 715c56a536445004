import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Translations, kept for a day, by text, source language and target language. */
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
