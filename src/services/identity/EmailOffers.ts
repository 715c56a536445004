import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { defaultRole, permissions } from "../staff/Permissions.ts"

/** SQL condition: the user under `alias` may offer posts by e-mail, by their own or the default role. */
export const mayOfferEmails = (sql: SqlClient, alias: string): Fragment =>
  sql.literal(`EXISTS (SELECT FROM roles offering WHERE offering.id IN (${alias}.role_id, ${defaultRole})
    AND (offering.permissions & ${permissions.manageEmailSubscriptions | permissions.administrator}) <> 0)`)

/** SQL condition: the user under `alias` offers posts by e-mail: is permitted, opted in, and can be seen by others. */
export const offersEmails = (sql: SqlClient, alias: string): Fragment =>
  sql`(${sql.literal(alias)}.email_subscriptions AND ${sql.literal(alias)}.approved
    AND ${sql.literal(alias)}.confirmed_at IS NOT NULL AND NOT ${sql.literal(alias)}.disabled
    AND ${mayOfferEmails(sql, alias)} AND EXISTS (SELECT FROM accounts offerer
      WHERE offerer.id = ${sql.literal(alias)}.account_id AND offerer.suspended_at IS NULL))`
