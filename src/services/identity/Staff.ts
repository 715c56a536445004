import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf } from "../database/Rows.ts"
import { defaultRole, givenBits, type Permission, permissions } from "../staff/Permissions.ts"

/** Recipient of an e-mail, with the preferred language. */
const Addressee = Schema.Struct({
  email: Schema.String,
  locale: Schema.NullOr(Schema.String)
})
export type Addressee = typeof Addressee.Type
const addresseeRows = rowsOf(Addressee)

/** Maximum staff members who get an e-mail about one matter. */
const staffToldMax = 50

/** Returns active staff whose role has the permission. */
export const staffWith = (sql: SqlClient, permission: Permission) =>
  addresseeRows(sql`SELECT u.email, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
      JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${defaultRole}
    WHERE ((${sql.literal(givenBits)} | e.permissions) & ${permissions[permission] | permissions.administrator}) <> 0
      AND u.approved AND u.confirmed_at IS NOT NULL
      AND NOT u.disabled AND a.suspended_at IS NULL ORDER BY u.account_id LIMIT ${staffToldMax}`)
