import { Array as Arr, Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, idRows, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "./AuditLog.ts"
import { allPermissions, defaultRole, permissions, RoleId } from "./Permissions.ts"
import { outranks, requirePermission, type StaffRole } from "./Rank.ts"
import { type Role, Roles } from "./Roles.ts"

/** Maximum roles of a server, and maximum UTF-16 units of a name. */
const rolesMax = 100
const nameUnitsMax = 100
/** Maximum collections that a role may allow a user. */
const collectionLimitMax = 1_000

/** Permissions that the default role may have. */
const defaultRolePermissions = permissions.inviteUsers | permissions.inviteBypassApproval

/** Changes to a role; absent fields stay unchanged. */
export type RoleChange = { readonly [Name in Exclude<keyof Role, "id">]?: Role[Name] | undefined }

const blank: Omit<Role, "id"> = {
  name: "",
  color: "",
  position: 0,
  permissions: 0n,
  highlighted: false,
  collectionLimit: 10,
  require2fa: false
}

/** Changes roles for staff, each change in one transaction with its audit log entry. Every node is informed at once. */
export class RoleWriter extends Context.Service<RoleWriter, {
  readonly create: (by: AccountId, change: RoleChange) => Effect.Effect<RoleId, NotAllowed | Unprocessable>
  readonly update: (
    by: AccountId,
    id: bigint,
    change: RoleChange
  ) => Effect.Effect<void, NotAllowed | RecordNotFound | Unprocessable>
  /** Removes a role; its users get the default role. */
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, NotAllowed | RecordNotFound>
}>()("murmuration/services/staff/RoleWriter") {
  static readonly layer = Layer.effect(RoleWriter, Effect.suspend(() => make)).pipe(
    Layer.provide([AuditLog.layer, Roles.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const log = yield* AuditLog
  const roles = yield* Roles
  const standing = requirePermission(sql)
  const inTransaction = <A, E>(work: Effect.Effect<A, E>) =>
    transaction(sql)(work).pipe(Effect.catchIf(isSqlError, Effect.die))

  const holdersOf = (id: RoleId) =>
    Effect.map(
      accountIdRows(sql`SELECT account_id FROM users WHERE role_id = ${id}`),
      (rows) => rows.map(({ accountId }) => accountId)
    )

  const locked = Effect.fnUntraced(function*(by: StaffRole, id: bigint) {
    yield* sql`SELECT FROM roles WHERE id = ${id} FOR UPDATE`
    const [role] = Arr.fromOption(yield* roles.get(id))
    if (role === undefined) return yield* new RecordNotFound()
    return outranks(by, role.position) ? role : yield* new NotAllowed({})
  })

  const create = Effect.fnUntraced(function*(by: AccountId, change: RoleChange) {
    const own = yield* standing(by, "manageRoles")
    const role = yield* valid(own, blank, change)
    yield* requireCapacity(sql, { table: "roles", name: "Roles", max: rolesMax })
    const { id } = singleRow(
      yield* idRows(
        tracked("roles")(sql`INSERT INTO roles
          (id, name, color, position, permissions, highlighted, collection_limit, require_2fa)
        VALUES (next_id(${yield* Clock.currentTimeMillis}), ${role.name}, ${role.color}, ${role.position},
          ${role.permissions}, ${role.highlighted}, ${role.collectionLimit}, ${role.require2fa}) RETURNING id`)
      )
    )
    yield* log.record({ by, action: "create", target: { type: "role", id, label: role.name }, after: role })
    return RoleId.make(id)
  })

  const update = Effect.fnUntraced(function*(by: AccountId, id: bigint, change: RoleChange) {
    const own = yield* standing(by, "manageRoles")
    const { id: roleId, ...before } = yield* locked(own, id)
    // The default role has no name, is always lowest and is never shown.
    const { collectionLimit, permissions } = change
    const after = yield* valid(own, before, roleId === defaultRole ? { collectionLimit, permissions } : change, roleId)
    const holders = roleId === defaultRole ? [] : yield* holdersOf(roleId)
    yield* tracked("account", holders)(
      tracked("roles")(sql`UPDATE roles SET name = ${after.name}, color = ${after.color}, position = ${after.position},
      permissions = ${after.permissions}, highlighted = ${after.highlighted},
      collection_limit = ${after.collectionLimit}, require_2fa = ${after.require2fa} WHERE id = ${id}`)
    )
    yield* log.record({ by, action: "update", target: { type: "role", id, label: before.name }, before, after })
  })

  const remove = Effect.fnUntraced(function*(by: AccountId, id: bigint) {
    const own = yield* standing(by, "manageRoles")
    const { id: roleId, ...before } = yield* locked(own, id)
    if (roleId === defaultRole) return yield* new NotAllowed({})
    const holders = yield* holdersOf(roleId)
    yield* tracked("account", holders)(
      tracked("user", holders)(sql`UPDATE users SET role_id = ${defaultRole} WHERE role_id = ${id}`)
    )
    yield* tracked("roles")(sql`DELETE FROM roles WHERE id = ${id}`)
    yield* log.record({ by, action: "destroy", target: { type: "role", id, label: before.name }, before })
  })

  return RoleWriter.of({
    create: traced("RoleWriter.create")((by, change) => inTransaction(create(by, change))),
    update: traced("RoleWriter.update")((by, id, change) => inTransaction(update(by, id, change))),
    remove: traced("RoleWriter.remove")((by, id) => inTransaction(remove(by, id)))
  })
})

/** Validates a changed role. Staff can only add permissions that they have, and positions below their own. */
const valid = Effect.fnUntraced(
  function*(by: StaffRole, before: Omit<Role, "id">, change: RoleChange, id?: RoleId) {
    const after = {
      name: (change.name ?? before.name).trim(),
      color: colorOf(change.color ?? before.color),
      position: change.position ?? before.position,
      permissions: change.permissions ?? before.permissions,
      highlighted: change.highlighted ?? before.highlighted,
      collectionLimit: change.collectionLimit ?? before.collectionLimit,
      require2fa: change.require2fa ?? before.require2fa
    }
    const given = after.permissions & ~before.permissions
    const base = id === defaultRole
    const problems = [
      ...(base || after.name !== "" ? [] : ["Name can't be blank"]),
      ...(after.name.length <= nameUnitsMax ? [] : [`Name is too long (maximum is ${nameUnitsMax} characters)`]),
      ...(after.color === undefined ? ["Color is invalid"] : []),
      ...((after.permissions & ~allPermissions) === 0n ? [] : ["Permissions is invalid"]),
      ...((given & ~by.permissions) === 0n
        ? []
        : ["Permissions cannot include permissions your current role does not possess"]),
      ...(base && (after.permissions & ~defaultRolePermissions) !== 0n
        ? ["Permissions include permissions that are not safe for the base role"]
        : []),
      ...(base || after.position >= 0 ? [] : ["Position is invalid"]),
      ...(outranks(by, after.position) ? [] : ["Position must be lower than that of your current role"]),
      ...(after.collectionLimit >= 0 && after.collectionLimit <= collectionLimitMax
        ? []
        : ["Collection limit is invalid"])
    ]
    if (problems.length > 0 || after.color === undefined) return yield* validationFailed(...problems)
    return { ...after, color: after.color }
  }
)

/** Normalises a colour to `#` and lower-case hex digits, or an empty text; undefined if it is invalid. */
const colorOf = (given: string): string | undefined => {
  if (given === "") return given
  return /^#?(?:[0-9a-f]{3}){1,2}$/i.test(given) ? `#${given.replace("#", "").toLowerCase()}` : undefined
}
