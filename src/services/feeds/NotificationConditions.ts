import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { kindOf, type NotificationType, notificationTypes, typesWhere } from "../notifications/NotificationTypes.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { isNotificationHidden, isReplyMention } from "../visibility/HiddenAccounts.ts"

/* SQL conditions derived from the table of notification types. */

const named = (types: ReadonlyArray<NotificationType>) => types.map((type) => `'${type}'`).join(", ")

/** Condition: the type of a row under `alias` is one of these. */
export const isOf = (sql: SqlClient, alias: string, types: ReadonlyArray<NotificationType>): Fragment =>
  sql.literal(types.length === 0 ? "false" : `${alias}.type IN (${named(types)})`)

/** Condition: the subject of a row `n` still exists; see `validWhile` in the table. */
export const isSubjectValid = (sql: SqlClient): Fragment =>
  sql.literal(
    `CASE n.type ${
      notificationTypes.map((type) => `WHEN '${type}' THEN ${kindOf(type).validWhile ?? "true"}`).join(" ")
    } END`
  )

/** Types that end with a follow or a follow request. */
export const ofFollows = typesWhere(({ validWhile, subject }) => subject === "nothing" && validWhile !== undefined)

/** Condition: the recipient of a row `r` of one of `types` may have it. */
export const mayReceive = (sql: SqlClient, types: ReadonlyArray<NotificationType>, at: Date): Fragment => {
  const unless = (exempt: ReadonlyArray<NotificationType>, condition: Fragment) =>
    exempt.length === types.length
      ? sql`true`
      : exempt.length === 0
      ? condition
      : sql`(${isOf(sql, "r", exempt)} OR ${condition})`
  const own = types.filter((type) => kindOf(type).sender === "anybody")
  const concerned = types.filter((type) => kindOf(type).recipients !== "the willing")
  // For filterable types the recipient's policy decides about limited senders.
  const limited = sql`NOT EXISTS (SELECT FROM accounts a WHERE a.id = r.from_id AND a.silenced_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM follows f
      WHERE f.account_id = r.account_id AND f.target_account_id = r.from_id) OFFSET 0)`
  const isAccepted = sql`(NOT ${
    isNotificationHidden(sql, sql`r.account_id`, sql`r.from_id`, at, isReplyMention(sql, "r"))
  }
    AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = r.from_id AND a.suspended_at IS NOT NULL OFFSET 0)
    AND ${unless(types.filter((type) => kindOf(type).filterable), limited)}
    AND (r.status_id = 0 OR EXISTS (SELECT FROM statuses s WHERE s.id = r.status_id
      AND ${visibleTo(sql, sql`r.account_id`, "s")}
      AND NOT EXISTS (SELECT FROM conversation_mutes c
        WHERE c.account_id = r.account_id AND c.conversation_id = s.conversation_id) OFFSET 0 FOR SHARE OF s)))`
  return sql`${unless(own, sql`r.account_id <> r.from_id`)} AND ${unless(concerned, isAccepted)}`
}
