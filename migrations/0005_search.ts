import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Account search: prefixes of names, whatever the collation of the database, and words of display names. Needs no
 * extension of Postgres.
 */
const statements = [
  `CREATE INDEX accounts_username_start ON accounts (lower(username) text_pattern_ops)`,
  `CREATE INDEX accounts_display_name ON accounts USING gin (to_tsvector('simple', display_name)) WHERE display_name <> ''`,
  `CREATE INDEX tags_name_start ON tags (name text_pattern_ops)`
]

export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
