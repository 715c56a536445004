import { Effect } from "effect"
import {
  type AccountSelection,
  type AccountStatus,
  accountStatuses
} from "../../../services/moderation/AdminAccounts.ts"
import { BadRequest } from "../../../services/runtime/Errors.ts"
import * as Lists from "../../render/ListResponses.ts"
import type { AdminAccountsQuery, AdminAccountsQueryV2 } from "../wire/AdminAccount.ts"

export type { AccountSelection }

/** Statuses in ascending precedence: of several in a v1 request, the last one applies. */
const legacyStatuses: ReadonlyArray<AccountStatus> = [
  "active",
  "pending",
  "disabled",
  "sensitized",
  "silenced",
  "suspended"
]

/** Returns the selection of a v1 query, by default active local accounts. */
export const legacySelection = (query: AdminAccountsQuery): AccountSelection => ({
  ...textsOf(query),
  origin: query.remote === true ? "remote" : query.local !== true && isGiven(query.byDomain) ? undefined : "local",
  status: legacyStatuses.findLast((status) => query[status] === true) ?? "active",
  staff: query.staff
})

/** Returns the selection of a v2 query, by default all accounts. Unknown words fail with BadRequest. */
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
  // An invalid id matches no account.
  invitedBy: isGiven(query.invitedBy) ? Lists.idsOf([query.invitedBy])[0] ?? 0n : undefined
})
