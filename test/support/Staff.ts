import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { type Permission, permissions } from "../../src/services/staff/Permissions.ts"
import { TestServer } from "./Server.ts"

/** Creates a user whose role has these permissions and position, with a token of all scopes. */
export const staffMember = Effect.fnUntraced(
  function*(username: string, granted: ReadonlyArray<Permission>, position = 500) {
    const { createPerson } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const bits = granted.reduce((sum, name) => sum | permissions[name], 0n)
    const [role] = yield* sql<{ id: bigint }>`INSERT INTO roles (id, name, position, permissions)
      VALUES (next_id(${yield* Clock.currentTimeMillis}), ${username}, ${position}, ${bits}) RETURNING id`
    const person = yield* createPerson(username, Scopes.all)
    yield* sql`UPDATE users SET role_id = ${role!.id} WHERE account_id = ${person.accountId}`
    return { ...person, roleId: role!.id }
  }
)

/** Latest audit log entries of a staff member, newest first. */
export const auditEntries = Effect.fnUntraced(function*(by: bigint) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly username: string
    readonly act: string
    readonly targetId: bigint | null
    readonly targetLabel: string
    readonly before: unknown
    readonly after: unknown
  }>`SELECT username, target_type || ' ' || action AS act, target_id, target_label, before, after
    FROM audit_log WHERE account_id = ${by} ORDER BY id DESC`
})
