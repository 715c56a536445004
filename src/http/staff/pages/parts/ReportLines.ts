import type { Messages } from "../../../../services/languages/Messages.ts"
import type { AdminReport } from "../../../../services/moderation/AdminReports.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { AccountNames } from "./AccountLines.ts"
import { emptyList } from "./Tables.ts"
import { badge, moment } from "./Texts.ts"

/** Labels of report categories. */
export const categories: Readonly<Record<AdminReport["category"], (words: Pick<Messages, "say">) => string>> = {
  spam: ({ say }) => say("Spam"),
  legal: ({ say }) => say("Illegal"),
  violation: ({ say }) => say("Rule violation"),
  other: ({ say }) => say("Other")
}

/** Badge that shows whether a report is open, assigned or resolved. */
export const reportState = ({ say }: Messages, { actionTakenAt, assignedAccountId }: AdminReport): Html =>
  actionTakenAt !== null
    ? badge(say("Resolved"), "good")
    : assignedAccountId === null
    ? badge(say("Open"), "warn")
    : badge(say("In progress"))

/** Returns the path of a report's page. */
export const reportPath = (id: bigint): string => `/admin/reports/${id}`

/** List of reports, each with the account in `other`. */
export const reportLines = (
  words: Messages,
  reports: ReadonlyArray<AdminReport>,
  names: AccountNames,
  other: "accountId" | "targetAccountId"
): Html =>
  reports.length === 0 ?
    emptyList(words.say("Nothing here.")) :
    html`<ul class="notes">${
      reports.map((report) =>
        html`<li class="row"><a href="${reportPath(report.id)}">${categories[report.category](words)}</a> ${
          reportState(words, report)
        } <span class="soft">${names.handle(report[other]) ?? ""} · ${moment(words, report.createdAt)}</span></li>`
      )
    }</ul>`
