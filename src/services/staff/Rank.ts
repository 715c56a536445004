import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { NotAllowed } from "../Errors.ts"
import type { AccountId } from "../Ids.ts"
import { rowsOf } from "../Rows.ts"
import { effective, everyone, givenBits, mayAny, type Permission } from "./Permissions.ts"

/** What somebody may do by their role, and how high that is. */
export interface Standing {
  readonly permissions: bigint
  readonly position: number
}

const standingRows = rowsOf(
  Schema.Struct({ permissions: Schema.BigInt, everybodys: Schema.BigInt, position: Schema.Int })
)
const positionRows = rowsOf(Schema.Struct({ position: Schema.Int }))

/** Nobody acts on who has an equal or higher role, themselves included (auth.md section 6). */
export const outranks = (by: Standing, position: number): boolean => by.position > position

/**
 * What somebody may do in the running transaction: `NotAllowed` where the role lacks all of `wanted`, or the user is kept out.
 * A role may have been taken a moment ago; from here on it stays as it is until the transaction ends.
 */
export const standingOf = (sql: SqlClient) =>
  Effect.fnUntraced(function*(by: AccountId, wanted: Permission | ReadonlyArray<Permission>) {
    const [found] = yield* standingRows(
      sql`SELECT ${sql.literal(givenBits)} AS permissions, e.permissions AS everybodys, r.position
      FROM users u JOIN accounts a ON a.id = u.account_id JOIN roles r ON r.id = u.role_id
        JOIN roles e ON e.id = ${everyone}
      WHERE u.account_id = ${by} AND NOT u.disabled AND u.approved AND a.suspended_at IS NULL FOR SHARE OF u, r`
    )
    if (found === undefined) return yield* new NotAllowed({})
    const standing: Standing = {
      permissions: effective(found.permissions, found.everybodys),
      position: found.position
    }
    return mayAny(standing.permissions, typeof wanted === "string" ? [wanted] : wanted)
      ? standing
      : yield* new NotAllowed({})
  })

/** Refuses to act on an account whose role is as high as one's own, or higher. Accounts of other servers have none. */
export const requireRank = (sql: SqlClient) =>
  Effect.fnUntraced(function*(by: Standing, target: bigint) {
    const [found] = yield* positionRows(sql`SELECT r.position FROM users u JOIN roles r ON r.id = u.role_id
      WHERE u.account_id = ${target} FOR SHARE OF u, r`)
    if (found !== undefined && !outranks(by, found.position)) return yield* new NotAllowed({})
  })
