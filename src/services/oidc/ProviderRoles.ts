import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { Users } from "../identity/Users.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { defaultRole, RoleId } from "../staff/Permissions.ts"
import { type Role, Roles } from "../staff/Roles.ts"

const holderRows = rowsOf(Schema.Struct({ username: Schema.String, roleId: RoleId }))

/** Roles that the groups of the identity provider give and take (`OIDC_ROLES`). */
export class ProviderRoles extends Context.Service<ProviderRoles, {
  /** Returns the group that gives the highest role. */
  readonly groupOf: (groups: ReadonlyArray<string>) => Effect.Effect<string | undefined>
  /**
   * Gives a user the highest role of the groups. Without one, takes a role away that the provider manages. The owner
   * keeps their role.
   */
  readonly apply: (accountId: AccountId, groups: ReadonlyArray<string>) => Effect.Effect<void>
}>()("murmuration/services/oidc/ProviderRoles") {
  static readonly layer = Layer.effect(ProviderRoles, Effect.suspend(() => make)).pipe(
    Layer.provide([AuditLog.layer, Roles.layer, Users.layer])
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const audit = yield* AuditLog
  const roles = yield* Roles
  const users = yield* Users
  const { provider } = yield* ServerConfig
  const mapping = provider?.roles ?? []

  /** Roles of the configuration with their groups, highest first; the owner's is not among them. */
  const managed = Effect.gen(function*() {
    const owner = Option.getOrUndefined(yield* roles.find("owner"))
    const found: Array<{ readonly group: string; readonly role: Role }> = []
    for (const [group, name] of mapping) {
      const role = Option.getOrUndefined(yield* roles.find(name))
      if (role === undefined) yield* Effect.logWarning(`OIDC_ROLES: there is no role "${name}"`)
      else if (role.id !== owner?.id) found.push({ group, role })
    }
    return { owner: owner?.id, roles: found.toSorted((a, b) => b.role.position - a.role.position) }
  })
  const givenBy = (
    all: ReadonlyArray<{ readonly group: string; readonly role: Role }>,
    groups: ReadonlyArray<string>
  ) => all.find(({ group }) => groups.includes(group))

  const apply: ProviderRoles["Service"]["apply"] = traced("ProviderRoles.apply")(
    function*(accountId, groups) {
      if (mapping.length === 0) return
      const { owner, roles: all } = yield* managed
      yield* Effect.gen(function*() {
        const [user] = yield* holderRows(sql`SELECT a.username, u.role_id FROM users u
          JOIN accounts a ON a.id = u.account_id WHERE u.account_id = ${accountId} FOR NO KEY UPDATE OF u`)
        if (user === undefined || user.roleId === owner) return
        const isManaged = all.some(({ role }) => role.id === user.roleId)
        const roleId = givenBy(all, groups)?.role.id ?? (isManaged ? defaultRole : user.roleId)
        if (roleId === user.roleId) return
        yield* tracked("roles")(users.change(accountId, { roleId }))
        yield* audit.record({
          by: undefined,
          action: "change_role",
          target: { type: "account", id: accountId, label: user.username },
          before: { roleId: user.roleId },
          after: { roleId }
        })
      }).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))
    },
    Effect.orDie
  )

  return ProviderRoles.of({
    groupOf: traced("ProviderRoles.groupOf")((groups) =>
      mapping.length === 0
        ? Effect.undefined
        : Effect.map(managed, ({ roles: all }) => givenBy(all, groups)?.group)
    ),
    apply
  })
})
