import type { Messages } from "../../../../services/languages/Messages.ts"
import type { AdminAccountRecord } from "../../../../services/moderation/AdminAccounts.ts"
import { defaultRole } from "../../../../services/staff/Permissions.ts"
import { type Html, html } from "../../../html/Html.ts"
import { badge } from "./Texts.ts"

/** Returns badges for restrictions and pending steps of an account. */
export const states = ({ say }: Messages, account: AdminAccountRecord): Html => {
  const { approved, confirmed, disabled, sensitized, silenced, suspended } = account
  const found = [
    ...(suspended ? [badge(say("Suspended"), "bad")] : []),
    ...(silenced ? [badge(say("Limited"), "warn")] : []),
    ...(sensitized ? [badge(say("Media hidden"), "warn")] : []),
    ...(disabled === true ? [badge(say("Frozen"), "bad")] : []),
    ...(approved === false ? [badge(say("Pending approval"), "warn")] : []),
    ...(confirmed === false ? [badge(say("Email not confirmed"))] : [])
  ]
  return found.length === 0 ? badge(say("Active"), "good") : html`<span class="row badges">${found}</span>`
}

/** Returns the name of the account's role; undefined for the default role. */
export const roleOf = (account: AdminAccountRecord): string | undefined =>
  account.roleId === null || account.roleId === defaultRole ? undefined : account.roleName ?? undefined
