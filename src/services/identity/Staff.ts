import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf } from "../Rows.ts"
import { everyone, givenBits, type Permission, permissions } from "../staff/Permissions.ts"

/** Where an e-mail goes, and the language in which it is best written. */
const Addressee = Schema.Struct({
  email: Schema.String,
  locale: Schema.NullOr(Schema.String)
})
export type Addressee = typeof Addressee.Type
const addresseeRows = rowsOf(Addressee)

/** Those of the staff who get an e-mail about one thing. */
const staffToldMax = 50

/** Those who may do something by their role, and can. */
export const staffWith = (sql: SqlClient, permission: Permission) =>
  addresseeRows(sql`SELECT u.email, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
      JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${everyone}
    WHERE ((${sql.literal(givenBits)} | e.permissions) & ${permissions[permission] | permissions.administrator}) <> 0
      AND u.approved AND u.confirmed_at IS NOT NULL
      AND NOT u.disabled AND a.suspended_at IS NULL ORDER BY u.account_id LIMIT ${staffToldMax}`)
