import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import type { StaffEmail } from "../emails/EmailLists.ts"
import { defaultRole, givenBits, type Permission, permissions } from "../staff/Permissions.ts"

/** Recipient of an e-mail, with the preferred language. */
const Addressee = Schema.Struct({
  accountId: AccountId,
  email: Schema.String,
  locale: Schema.NullOr(Schema.String)
})
export type Addressee = typeof Addressee.Type
const addresseeRows = rowsOf(Addressee)

/** Maximum staff members who get an e-mail about one matter. */
const staffEmailedMax = 50

/** Returns active staff whose role has the permission, without those who declined such e-mails. */
export const staffWith = (sql: SqlClient, permission: Permission, email?: StaffEmail) =>
  addresseeRows(sql`SELECT u.account_id, u.email, u.locale FROM users u JOIN accounts a ON a.id = u.account_id
      JOIN roles r ON r.id = u.role_id JOIN roles e ON e.id = ${defaultRole}
    WHERE ((${sql.literal(givenBits)} | e.permissions) & ${permissions[permission] | permissions.administrator}) <> 0
      AND u.approved AND u.confirmed_at IS NOT NULL
      AND NOT u.disabled AND a.suspended_at IS NULL
      AND NOT EXISTS (SELECT FROM email_choices c WHERE c.account_id = u.account_id AND ${
    email ?? null
  } = ANY (c.declined))
    ORDER BY u.account_id LIMIT ${staffEmailedMax}`)
