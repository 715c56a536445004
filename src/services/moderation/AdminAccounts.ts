import { Array as Arr, Context, Effect, Layer, Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { boundedCount } from "../database/BoundedCounts.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { hasPrefix } from "../database/Prefixes.ts"
import { idRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import * as EmailAddresses from "../identity/EmailAddresses.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { combined, defaultRole, staffBits } from "../staff/Permissions.ts"

export const accountStatuses = ["active", "pending", "disabled", "silenced", "suspended", "sensitized"] as const
export type AccountStatus = typeof accountStatuses[number]

/** Filter for accounts; names and addresses are matched by prefix. */
export interface AccountSelection {
  readonly origin?: "local" | "remote" | undefined
  readonly status?: AccountStatus | undefined
  readonly staff?: boolean | undefined
  readonly roleIds?: ReadonlyArray<bigint> | undefined
  readonly username?: string | undefined
  readonly displayName?: string | undefined
  readonly email?: string | undefined
  readonly domain?: string | undefined
  /** IP address or network. */
  readonly ip?: string | undefined
  /** Account whose invite was used to sign up. */
  readonly invitedBy?: bigint | undefined
}

const Row = Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  createdAt: Timestamptz,
  silenced: Schema.Boolean,
  suspended: Schema.Boolean,
  sensitized: Schema.Boolean,
  email: Schema.NullOr(Schema.String),
  locale: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.String),
  confirmed: Schema.NullOr(Schema.Boolean),
  approved: Schema.NullOr(Schema.Boolean),
  disabled: Schema.NullOr(Schema.Boolean),
  createdByAppId: Schema.NullOr(Schema.BigInt),
  createdByAppName: Schema.NullOr(Schema.String),
  invitedById: Schema.NullOr(Schema.BigInt),
  roleId: Schema.NullOr(Schema.BigInt),
  roleName: Schema.NullOr(Schema.String),
  roleColor: Schema.NullOr(Schema.String),
  roleHighlighted: Schema.NullOr(Schema.Boolean),
  roleCollectionLimit: Schema.NullOr(Schema.Int),
  rolePermissions: Schema.NullOr(Schema.BigInt),
  everybodys: Schema.BigInt
})
const accountRows = rowsOf(Row)

const Ip = Schema.Struct({ accountId: Schema.BigInt, ip: Schema.String, usedAt: Timestamptz })
const ipRows = rowsOf(Ip)
/** Maximum IP addresses of an account that moderators see. */
const ipsMax = 100

/** An account as moderators see it; fields of users are null for remote accounts. */
export type AdminAccountRecord = Omit<typeof Row.Type, "everybodys"> & {
  /** IP addresses of the user, latest first. */
  readonly ips: ReadonlyArray<{ readonly ip: string; readonly usedAt: Date }>
}

const none: AdminAccountRecord["ips"] = []

/** Reads accounts for moderators. */
export class AdminAccounts extends Context.Service<AdminAccounts, {
  readonly page: (selection: AccountSelection, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
  /** Number of accounts, as counted by `boundedCount`. */
  readonly total: (selection: AccountSelection) => Effect.Effect<number>
  /** Loads existing accounts by id, in two queries. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, AdminAccountRecord>>
  readonly find: (id: bigint) => Effect.Effect<AdminAccountRecord, RecordNotFound>
}>()("murmuration/services/moderation/AdminAccounts") {
  static readonly layer = Layer.effect(
    AdminAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const load = traced("AdminAccounts.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return new Map<bigint, AdminAccountRecord>()
        const rows = yield* accountRows(sql`SELECT a.id, a.username, a.domain, a.created_at,
            a.silenced_at IS NOT NULL AS silenced, a.suspended_at IS NOT NULL AS suspended,
            a.sensitized_at IS NOT NULL AS sensitized, u.email, u.locale, u.reason, u.approved, u.disabled,
            CASE WHEN u.account_id IS NOT NULL THEN u.confirmed_at IS NOT NULL END AS confirmed, u.created_by_app_id,
            (SELECT p.name FROM oauth_apps p WHERE p.id = u.created_by_app_id) AS created_by_app_name,
            (SELECT i.account_id FROM invites i WHERE i.id = u.invite_id) AS invited_by_id,
            r.id AS role_id, r.name AS role_name, r.color AS role_color, r.highlighted AS role_highlighted,
            r.collection_limit AS role_collection_limit, r.permissions AS role_permissions, e.permissions AS everybodys
          FROM accounts a LEFT JOIN users u ON u.account_id = a.id LEFT JOIN roles r ON r.id = u.role_id
            JOIN roles e ON e.id = ${defaultRole} WHERE a.id = ANY (${ids}::bigint[])`)
        const users = rows.flatMap(({ email, id }) => email === null ? [] : [id])
        const ips = users.length === 0 ?
          [] :
          yield* ipRows(sql`SELECT account_id, host(ip) AS ip, max(seen_at) AS used_at
          FROM sessions WHERE account_id = ANY (${users}::bigint[]) AND ip IS NOT NULL
          GROUP BY account_id, ip ORDER BY used_at DESC`)
        const byAccount = Arr.groupBy(ips, ({ accountId }) => String(accountId))
        return new Map(rows.map(({ everybodys, rolePermissions, ...row }): [bigint, AdminAccountRecord] => [row.id, {
          ...row,
          rolePermissions: rolePermissions === null ? null : combined(rolePermissions, everybodys),
          ips: byAccount[String(row.id)]?.slice(0, ipsMax) ?? none
        }]))
      }, Effect.orDie)

      const page = traced("AdminAccounts.page")(function*(selection: AccountSelection, page: Page) {
        if (page.limit === 0) return []
        const { tail, where } = clauses(sql, "a.id", page)
        const conditions = conditionsOf(sql, selection)
        const rows = yield* idRows(sql`SELECT a.id FROM accounts a WHERE ${sql.and([where, ...conditions])} ${tail}`)
        return newestFirst(page, rows.map(({ id }) => id))
      }, Effect.orDie)

      const find = traced("AdminAccounts.find")(function*(id: bigint) {
        return (yield* load([id])).get(id) ?? (yield* new RecordNotFound())
      })
      const total = traced("AdminAccounts.total")((selection: AccountSelection) =>
        boundedCount(sql)(sql`SELECT FROM accounts a WHERE ${sql.and([sql`TRUE`, ...conditionsOf(sql, selection)])}`)
      )
      return AdminAccounts.of({ page, total, load, find })
    })
  )
}

const conditionsOf = (sql: SqlClient.SqlClient, selection: AccountSelection): ReadonlyArray<Fragment> => {
  const { displayName, domain, email, invitedBy, ip, origin, roleIds, staff, status, username } = selection
  const ofUser = (condition: Fragment) => sql`EXISTS (SELECT FROM users u WHERE u.account_id = a.id AND ${condition})`
  const statuses: Record<AccountStatus, Fragment> = {
    active: sql`a.suspended_at IS NULL`,
    pending: ofUser(sql`NOT u.approved`),
    disabled: ofUser(sql`u.disabled`),
    silenced: sql`a.silenced_at IS NOT NULL`,
    suspended: sql`a.suspended_at IS NOT NULL`,
    sensitized: sql`a.sensitized_at IS NOT NULL`
  }
  const named = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""
  const network = named(ip) ? networkOf(ip) : undefined
  return [
    ...(origin === undefined ? [] : [origin === "local" ? sql`a.domain IS NULL` : sql`a.domain IS NOT NULL`]),
    ...(status === undefined ? [] : [statuses[status]]),
    ...(staff === true
      ? [ofUser(sql`u.role_id IN (SELECT id FROM roles WHERE (permissions & ${staffBits}) <> 0)`)]
      : []),
    ...(roleIds === undefined || roleIds.length === 0 ? [] : [ofUser(sql`u.role_id = ANY (${roleIds}::bigint[])`)]),
    ...(invitedBy === undefined
      ? []
      : [ofUser(sql`u.invite_id IN (SELECT id FROM invites WHERE account_id = ${invitedBy})`)]),
    ...(named(username) ? [hasPrefix(sql, "lower(a.username)", username.replace(/^@/, ""))] : []),
    ...(named(displayName)
      ? [sql`a.display_name <> '' AND ${hasPrefix(sql, "lower(a.display_name)", displayName)}`]
      : []),
    ...(named(email) ? [ofUser(hasPrefix(sql, "lower(u.email)", EmailAddresses.parse(email) ?? email))] : []),
    ...(named(domain)
      ? [sql`a.domain IS NOT NULL AND (domain_key(a.domain) COLLATE "C") = (domain_key(${domain.trim()}) COLLATE "C")`]
      : []),
    ...(named(ip)
      ? [
        network === undefined
          ? sql`FALSE`
          : sql`EXISTS (SELECT FROM sessions s WHERE s.account_id = a.id AND s.ip <<= ${network}::inet)`
      ]
      : [])
  ]
}

const networkOf = (given: string): string | undefined => {
  const text = given.trim()
  const network = text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`
  return Result.getOrUndefined(Result.map(IpNetwork.fromString(network), IpNetwork.format))
}
