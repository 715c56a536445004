import { Array as Arr, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"

export const RoleId = Schema.BigInt.pipe(Schema.brand("RoleId"))
export type RoleId = typeof RoleId.Type

/** The role that every user has beside their own. */
export const everyone = RoleId.make(-99n)

/** Bits of a role's `permissions` (entities.md, "Role"). */
export const permissions = {
  administrator: 1n << 0n,
  viewDevops: 1n << 1n,
  viewAuditLog: 1n << 2n,
  viewDashboard: 1n << 3n,
  manageReports: 1n << 4n,
  manageFederation: 1n << 5n,
  manageSettings: 1n << 6n,
  manageBlocks: 1n << 7n,
  manageTaxonomies: 1n << 8n,
  manageAppeals: 1n << 9n,
  manageUsers: 1n << 10n,
  manageInvites: 1n << 11n,
  manageRules: 1n << 12n,
  manageAnnouncements: 1n << 13n,
  manageCustomEmojis: 1n << 14n,
  manageWebhooks: 1n << 15n,
  inviteUsers: 1n << 16n,
  manageRoles: 1n << 17n,
  manageUserAccess: 1n << 18n,
  deleteUserData: 1n << 19n,
  viewFeeds: 1n << 20n,
  inviteBypassApproval: 1n << 21n,
  manageEmailSubscriptions: 1n << 22n
} as const
export type Permission = keyof typeof permissions

const every = Object.values(permissions).reduce((bits, bit) => bits | bit, 0n)

/** What a user may do: the own role's bits and everybody's; an administrator has them all. */
export const effective = (own: bigint, everybodys: bigint): bigint => {
  const bits = own | everybodys
  return (bits & permissions.administrator) === 0n ? bits : every
}

export const may = (bits: bigint, permission: Permission): boolean => (bits & permissions[permission]) !== 0n

const Role = Schema.Struct({
  id: RoleId,
  name: Schema.String,
  color: Schema.String,
  position: Schema.Int,
  permissions: Schema.BigInt,
  highlighted: Schema.Boolean
})
type Role = typeof Role.Type
const roleRows = rowsOf(Role)

/** Roles of users (auth.md section 6). */
export class Roles extends Context.Service<Roles, {
  readonly list: Effect.Effect<ReadonlyArray<Role>>
  /** By name, whatever the case. */
  readonly find: (name: string) => Effect.Effect<Option.Option<Role>>
}>()("murmuration/services/identity/Roles") {
  static readonly layer = Layer.effect(
    Roles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const roleOf = (row: Role): Role => ({ ...row, id: RoleId.make(row.id) })
      return Roles.of({
        list: roleRows(sql`SELECT id, name, color, position, permissions, highlighted FROM roles ORDER BY position`)
          .pipe(
            Effect.map((rows) => rows.map(roleOf)),
            Effect.orDie,
            Effect.withSpan("Roles.list")
          ),
        find: traced("Roles.find")(
          (name) =>
            Effect.map(
              roleRows(sql`SELECT id, name, color, position, permissions, highlighted FROM roles
                WHERE lower(name) = lower(${name}) ORDER BY position DESC LIMIT 1`),
              (rows) => Option.map(Arr.head(rows), roleOf)
            ),
          Effect.orDie
        )
      })
    })
  )
}
