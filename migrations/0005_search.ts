import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a search reads: names by how they begin, whatever the database's collation, and the words of display names. All
 * of it is in every Postgres, without an extension.
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
