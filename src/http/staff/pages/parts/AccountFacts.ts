import { sanitise } from "../../../../services/html/Sanitise.ts"
import type { AdminAccountRecord } from "../../../../services/moderation/AdminAccounts.ts"
import { bounded } from "../../../../services/text/BoundedText.ts"
import { type Html, html, raw } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import type { AccountNames } from "./AccountLines.ts"
import { roleOf } from "./AccountStates.ts"
import { emptyList } from "./Tables.ts"
import { definitions, moment } from "./Texts.ts"

/** Maximum IP addresses shown. */
const namedMax = 10

/** Returns the details of an account that the visitor's permissions allow. */
export const facts = (
  { may, words: { day, figure, say }, words }: Visit,
  account: AdminAccountRecord,
  names: AccountNames
): Html => {
  const record = names.find(account.id)
  return definitions([
    [say("Since"), moment(words, account.createdAt)],
    [say("Email address"), may("manageUsers") ? account.email ?? undefined : undefined],
    [say("Role"), roleOf(account)],
    [say("Language"), account.locale ?? undefined],
    [say("Reason for joining"), account.reason === null ? undefined : html`<span dir="auto">${account.reason}</span>`],
    [say("Sign-up app"), account.createdByAppName ?? undefined],
    [say("Invited by"), account.invitedById === null ? undefined : names.line(account.invitedById)],
    [say("Server"), account.domain ?? undefined],
    [say("Posts"), record === undefined ? undefined : figure(record.statusesCount)],
    [say("Followers"), record === undefined ? undefined : figure(record.followersCount)],
    [say("Follows"), record === undefined ? undefined : figure(record.followingCount)],
    [say("Last post"), record?.lastStatusAt ? day(record.lastStatusAt) : undefined],
    [say("Bot"), record?.bot === true ? say("yes") : undefined],
    [
      say("Biography"),
      record === undefined || record.noteHtml === ""
        ? undefined
        : html`<div class="content" dir="auto">${raw(sanitise(bounded(record.noteHtml)))}</div>`
    ]
  ])
}

/** Returns the IP addresses that the account's user signed in from. */
export const ipAddresses = ({ words: { say }, words }: Visit, { ips }: AdminAccountRecord): Html =>
  ips.length === 0
    ? emptyList(say("None known."))
    : html`<ul class="notes">${
      ips.slice(0, namedMax).map(({ ip, usedAt }) =>
        html`<li class="row"><a href="/admin/accounts?${new URLSearchParams({ ip })}">${ip}</a> <span class="soft">${
          moment(words, usedAt)
        }</span></li>`
      )
    }</ul>`
