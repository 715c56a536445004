import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Sorts after every text with the same prefix, in byte order. */
const last = "\u{10FFFF}"

/**
 * Condition: a lower-case text starts with this prefix. Uses an index with `text_pattern_ops` under every plan; LIKE
 * with a parameter would not in a cached plan, where the prefix is unknown.
 */
export const hasPrefix = (sql: SqlClient, column: string, text: string): Fragment => {
  const start = text.trim().toLowerCase()
  const name = sql.literal(column)
  return sql`(${name} ~>=~ ${start} AND ${name} ~<~ ${start + last})`
}
