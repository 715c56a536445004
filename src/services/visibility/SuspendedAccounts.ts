import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * Condition: an account, an expression of its id, is suspended; lists omit it and its posts are not visible. Looks up a
 * single row. The subquery renames the table's columns, so an expression never captures them by accident.
 */
export const isSuspended = (sql: SqlClient, account: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM (SELECT id AS suspended_id, suspended_at FROM accounts) suspended
    WHERE suspended.suspended_id = ${account} AND suspended.suspended_at IS NOT NULL OFFSET 0)`
