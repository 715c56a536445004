import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** What stands behind every text that begins like another one, in the order of bytes. */
const last = "\u{10FFFF}"

/**
 * SQL: a text in small letters begins like that. By an index with `text_pattern_ops`, whatever plan Postgres keeps for the
 * statement; of a pattern that is a parameter it would not know by then that it has a beginning.
 */
export const beginsLike = (sql: SqlClient, column: string, text: string): Fragment => {
  const start = text.trim().toLowerCase()
  const name = sql.literal(column)
  return sql`(${name} ~>=~ ${start} AND ${name} ~<~ ${start + last})`
}
