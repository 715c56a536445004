import { Context, Effect, Layer } from "effect"
import { renderedRows } from "../../../services/database/RenderedRows.ts"
import { type AdminAccountRecord, AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import type { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { defaultRole } from "../../../services/staff/Permissions.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import type { Account } from "../../wire/Account.ts"
import { id, timestamp } from "../../wire/Common.ts"
import { type JsonOf, type Values, withMembers } from "../../wire/Keys.ts"
import type { AdminAccount } from "../wire/AdminAccount.ts"

/** Accounts for moderators as serialised JSON; a list takes two queries more than one of plain accounts. */
export class AdminAccountViews extends Context.Service<AdminAccountViews, {
  readonly byId: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, JsonOf<AdminAccount>>>
  /** Returns accounts in the order of `ids`. */
  readonly render: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<AdminAccount>>>
  readonly renderOne: (id: bigint) => Effect.Effect<JsonOf<AdminAccount>, RecordNotFound>
}>()("murmuration/http/staff/render/AdminAccountViews") {
  static readonly layer = Layer.effect(
    AdminAccountViews,
    Effect.gen(function*() {
      const adminAccounts = yield* AdminAccounts
      const accounts = yield* AccountViews

      const byId = traced("AdminAccountViews.byId")(function*(ids: ReadonlyArray<bigint>) {
        const unique = [...new Set(ids)]
        const records = [...(yield* adminAccounts.load(unique)).values()]
        const shown = yield* accounts.byId(unique)
        return new Map(
          yield* renderedRows(
            "account",
            records,
            (one) => one.id,
            (one): [bigint, JsonOf<AdminAccount>] | undefined => {
              const account = shown.get(one.id)
              return account === undefined ? undefined : [one.id, adminAccount(one, account)]
            }
          )
        )
      })
      return AdminAccountViews.of({
        byId,
        render: traced("AdminAccountViews.render")(function*(ids) {
          const found = yield* byId(ids)
          return ids.flatMap((one) => found.get(one) ?? [])
        }),
        renderOne: traced("AdminAccountViews.renderOne")(function*(one) {
          yield* adminAccounts.find(one)
          const found = (yield* byId([one])).get(one)
          return found ?? (yield* Effect.die(`account ${one} is there and is not shown`))
        })
      })
    })
  ).pipe(Layer.provide([AccountViews.layer, AdminAccounts.layer]))
}

const adminAccount = (record: AdminAccountRecord, account: JsonOf<Account>): JsonOf<AdminAccount> => {
  const { createdAt, createdByAppId, domain, email, invitedById, ips, locale, reason, username } = record
  return withMembers<AdminAccount, "account">({
    id: id(record.id),
    username,
    domain,
    createdAt: timestamp(createdAt),
    email,
    ip: ips[0]?.ip ?? null,
    ips: ips.map(({ ip, usedAt }) => ({ ip, usedAt: timestamp(usedAt) })),
    locale,
    inviteRequest: reason,
    role: roleOf(record),
    confirmed: record.confirmed,
    approved: record.approved,
    disabled: record.disabled,
    silenced: record.silenced,
    suspended: record.suspended,
    sensitized: record.sensitized,
    ...(createdByAppId === null ? {} : { createdByApplicationId: id(createdByAppId) }),
    ...(invitedById === null ? {} : { invitedByAccountId: id(invitedById) })
  }, { account })
}

const roleOf = (record: AdminAccountRecord): Values<AdminAccount["role"]> => {
  const { roleCollectionLimit, roleColor, roleHighlighted, roleId, roleName, rolePermissions } = record
  return roleId === null
    ? null
    : {
      id: String(roleId),
      name: roleId === defaultRole ? "" : roleName ?? "",
      permissions: String(rolePermissions ?? 0n),
      color: roleColor ?? "",
      highlighted: roleHighlighted ?? false,
      collectionLimit: roleCollectionLimit ?? 0
    }
}
