import type { Strike } from "../../services/moderation/Strike.ts"
import type { Account } from "../wire/Account.ts"
import { id, timestamp } from "../wire/Common.ts"
import { type JsonOf, withMembers } from "../wire/Keys.ts"
import type { AccountWarning } from "../wire/Notification.ts"

/** Renders a strike with the JSON of its target account. */
export const warningText = (strike: Strike, targetAccount: JsonOf<Account>): JsonOf<AccountWarning> => {
  const { action, appealState, appealText, createdAt, statusIds, text } = strike
  return withMembers<AccountWarning, "targetAccount">({
    id: id(strike.id),
    action,
    text,
    statusIds: statusIds.length === 0 ? null : statusIds.map(id),
    createdAt: timestamp(createdAt),
    appeal: appealState === null ? null : { text: appealText ?? "", state: appealState }
  }, { targetAccount })
}
