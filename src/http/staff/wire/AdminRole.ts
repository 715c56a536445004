import { Schema, SchemaTransformation } from "effect"
import { combined } from "../../../services/staff/Permissions.ts"
import type { Role as StoredRole } from "../../../services/staff/Roles.ts"
import { Flag, Integer, Text } from "../../wire/Params.ts"
import { Role } from "../../wire/Role.ts"

/** A role for staff who edit it; `own_permissions` excludes everybody's permissions. */
export const AdminRole = Schema.Struct({
  ...Role.fields,
  own_permissions: Schema.String,
  position: Schema.Int,
  require_2fa: Schema.Boolean
})
export type AdminRole = typeof AdminRole.Type

/** Renders a role by the wire's names, because no name of the program converts to `require_2fa`. */
export const adminRole = (role: StoredRole, defaultPermissions: bigint): AdminRole => ({
  id: String(role.id),
  name: role.name,
  permissions: String(combined(role.permissions, defaultPermissions)),
  color: role.color,
  highlighted: role.highlighted,
  collection_limit: role.collectionLimit,
  own_permissions: String(role.permissions),
  position: role.position,
  require_2fa: role.require2fa
})

/** Fields of a role to set; `permissions` is a decimal bitmask. */
export const RoleWrite = Schema.Struct({
  name: Schema.optionalKey(Text),
  color: Schema.optionalKey(Text),
  position: Schema.optionalKey(Integer),
  permissions: Schema.optionalKey(Text),
  highlighted: Schema.optionalKey(Flag),
  collectionLimit: Schema.optionalKey(Integer),
  require2fa: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ collectionLimit: "collection_limit", require2fa: "require_2fa" }))
export type RoleWrite = typeof RoleWrite.Type

/** Id of a role in the path; everybody's is negative. */
export const RolePath = {
  id: Schema.String.check(Schema.isPattern(/^-?[0-9]{1,18}$/)).pipe(
    Schema.decodeTo(Schema.BigInt, SchemaTransformation.bigintFromString)
  )
}
