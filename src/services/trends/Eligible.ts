import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/** Condition: an account, an expression of its id, is neither limited nor suspended. */
export const isUnrestricted = (sql: SqlClient, account: string): Fragment =>
  sql.literal(`NOT EXISTS (SELECT FROM accounts standing WHERE standing.id = ${account}
    AND (standing.silenced_at IS NOT NULL OR standing.suspended_at IS NOT NULL) OFFSET 0)`)

/**
 * Condition: a status under `alias` may trend: public, not a reply, without a content warning, by a discoverable author
 * without restrictions.
 */
export const mayTrend = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(
    `(${alias}.visibility = 'public' AND NOT ${alias}.local_only AND ${alias}.deleted_at IS NULL AND ${alias}.reblog_of_id IS NULL
    AND ${alias}.in_reply_to_id IS NULL AND ${alias}.in_reply_to_uri IS NULL
    AND NOT ${alias}.sensitive AND ${alias}.spoiler_text = ''
    AND EXISTS (SELECT FROM accounts author WHERE author.id = ${alias}.account_id AND author.discoverable
      AND author.silenced_at IS NULL AND author.suspended_at IS NULL AND author.sensitized_at IS NULL OFFSET 0))`
  )

/**
 * Condition: a link in a status under `alias` counts: public, without a content warning, by an author that is neither
 * limited nor suspended.
 */
export const linkCounts = (sql: SqlClient, alias: string): Fragment =>
  sql`(${
    sql.literal(
      `${alias}.visibility = 'public' AND NOT ${alias}.local_only AND ${alias}.deleted_at IS NULL AND NOT ${alias}.sensitive AND ${alias}.spoiler_text = ''`
    )
  }
    AND ${isUnrestricted(sql, `${alias}.account_id`)})`
