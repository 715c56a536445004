import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * Whether an account, an expression of its id, is suspended: lists leave it out, and nobody sees its posts. One row is
 * looked up: the table's columns have other names inside, so that an expression never means them by chance.
 */
export const isSuspended = (sql: SqlClient, account: Fragment): Fragment =>
  sql`EXISTS (SELECT FROM (SELECT id AS suspended_id, suspended_at FROM accounts) suspended
    WHERE suspended.suspended_id = ${account} AND suspended.suspended_at IS NOT NULL OFFSET 0)`
