import { Effect } from "effect"
import { BadRequest } from "../../../services/Errors.ts"
import {
  type AccountSelection,
  type AccountStatus,
  accountStatuses
} from "../../../services/moderation/AdminAccounts.ts"
import * as Lists from "../../render/Lists.ts"
import type { AdminAccountsQuery, AdminAccountsQueryV2 } from "../../wire/admin/Account.ts"

export type { AccountSelection }

/** From the weakest: of several that a request of the first version names the last one counts. */
const legacyStatuses: ReadonlyArray<AccountStatus> = [
  "active",
  "pending",
  "disabled",
  "sensitized",
  "silenced",
  "suspended"
]

/** What the first version means: active accounts of this server unless it says otherwise. */
export const legacySelection = (query: AdminAccountsQuery): AccountSelection => ({
  ...textsOf(query),
  origin: query.remote === true ? "remote" : query.local !== true && isGiven(query.byDomain) ? undefined : "local",
  status: legacyStatuses.findLast((status) => query[status] === true) ?? "active",
  staff: query.staff
})

/** What the second version means: everything that it does not narrow down; a word that nobody knows is refused. */
export const selection = Effect.fnUntraced(function*(query: AdminAccountsQueryV2) {
  const { origin, permissions, roleIds, status } = query
  if (isGiven(origin) && origin !== "local" && origin !== "remote") {
    return yield* new BadRequest({ text: `Unknown origin: ${origin}` })
  }
  const known = accountStatuses.find((one) => one === status)
  if (isGiven(status) && known === undefined) return yield* new BadRequest({ text: `Unknown status: ${status}` })
  if (isGiven(permissions) && permissions !== "staff") {
    return yield* new BadRequest({ text: `Unknown permissions: ${permissions}` })
  }
  const found: AccountSelection = {
    ...textsOf(query),
    origin: origin === "local" || origin === "remote" ? origin : undefined,
    status: known,
    staff: isGiven(permissions),
    ...(roleIds === undefined ? {} : { roleIds: Lists.idsOf(roleIds) })
  }
  return found
})

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== ""

const textsOf = (query: AdminAccountsQuery | AdminAccountsQueryV2) => ({
  username: query.username,
  displayName: query.displayName,
  domain: query.byDomain,
  email: query.email,
  ip: query.ip,
  // What is no id is nobody's.
  invitedBy: isGiven(query.invitedBy) ? Lists.idsOf([query.invitedBy])[0] ?? 0n : undefined
})
