import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { NotAllowed } from "../runtime/Errors.ts"
import { combined, defaultRole, givenBits, mayAny, type Permission } from "./Permissions.ts"

/** Permissions and position of a user's role. */
export interface StaffRole {
  readonly permissions: bigint
  readonly position: number
}

const staffRoleRows = rowsOf(
  Schema.Struct({ permissions: Schema.BigInt, everybodys: Schema.BigInt, position: Schema.Int })
)
const positionRows = rowsOf(Schema.Struct({ position: Schema.Int }))

/**
 * Returns true if the role is higher. Staff cannot act on equal or higher roles, including themselves (auth.md section
 * 6).
 */
export const outranks = (by: StaffRole, position: number): boolean => by.position > position

/**
 * Returns the user's permissions in the current transaction. Fails with `NotAllowed` if the role lacks all of `required`,
 * or if the user is disabled or suspended. Cached roles may be stale, so this reads the role and locks it until the
 * transaction ends.
 */
export const requirePermission = (sql: SqlClient) =>
  Effect.fnUntraced(function*(by: AccountId, required: Permission | ReadonlyArray<Permission>) {
    const [found] = yield* staffRoleRows(
      sql`SELECT ${sql.literal(givenBits)} AS permissions, e.permissions AS everybodys, r.position
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id
        JOIN roles e ON e.id = ${defaultRole}
      WHERE u.account_id = ${by} AND NOT u.disabled AND u.approved AND a.suspended_at IS NULL FOR SHARE OF u, r`
    )
    if (found === undefined) return yield* new NotAllowed({})
    const standing: StaffRole = {
      permissions: combined(found.permissions, found.everybodys),
      position: found.position
    }
    return mayAny(standing.permissions, typeof required === "string" ? [required] : required)
      ? standing
      : yield* new NotAllowed({})
  })

/** Refuses actions on accounts with an equal or higher role. Remote accounts have no role. */
export const requireRank = (sql: SqlClient) =>
  Effect.fnUntraced(function*(by: StaffRole, target: bigint) {
    const [found] = yield* positionRows(sql`SELECT r.position FROM users u JOIN roles r ON r.id = u.role_id
      WHERE u.account_id = ${target} FOR SHARE OF u, r`)
    if (found !== undefined && !outranks(by, found.position)) return yield* new NotAllowed({})
  })
