import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { combined, defaultRole, givenBits } from "./Permissions.ts"
import type { StaffRole } from "./Rank.ts"

/** A user with their role, as the staff area shows it. */
export interface StaffMember extends StaffRole {
  readonly username: string
  readonly roleName: string
  /** True if the role has no permissions until the user sets up a second factor. */
  readonly lacksFactor: boolean
}

const memberRows = rowsOf(Schema.Struct({
  username: Schema.String,
  roleName: Schema.String,
  permissions: Schema.BigInt,
  everybodys: Schema.BigInt,
  position: Schema.Int,
  lacksFactor: Schema.Boolean
}))

/**
 * Users who may enter the staff area, by the API's conditions: confirmed, approved, and neither disabled nor suspended.
 */
export class StaffMembers extends Context.Service<StaffMembers, {
  /** Reads the user's current role in one query. */
  readonly find: (account: AccountId) => Effect.Effect<Option.Option<StaffMember>>
}>()("murmuration/services/staff/StaffMembers") {
  static readonly layer = Layer.effect(
    StaffMembers,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return StaffMembers.of({
        find: traced("StaffMembers.find")(function*(account) {
          const [found] = yield* memberRows(
            sql`SELECT a.username, r.name AS role_name, ${sql.literal(givenBits)} AS permissions,
              e.permissions AS everybodys, r.position, r.require_2fa AND u.otp_enabled_at IS NULL AS lacks_factor
            FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id
              JOIN roles e ON e.id = ${defaultRole}
            WHERE u.account_id = ${account} AND NOT u.disabled AND u.approved AND u.confirmed_at IS NOT NULL
              AND a.suspended_at IS NULL AND NOT a.memorial AND a.moved_to_id IS NULL`
          )
          if (found === undefined) return Option.none()
          const { everybodys, permissions, ...member } = found
          return Option.some({ ...member, permissions: combined(permissions, everybodys) })
        }, Effect.orDie)
      })
    })
  )
}
