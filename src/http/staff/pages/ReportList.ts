import { Effect, Layer } from "effect"
import { AdminReports } from "../../../services/moderation/AdminReports.ts"
import { html } from "../../html/Html.ts"
import { AccountLines } from "./parts/AccountLines.ts"
import { categories, reportPath, reportState } from "./parts/ReportLines.ts"
import { emptyList, filters, filterText, pageOf, pager, table, tabs, total } from "./parts/Tables.ts"
import { moment } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, type Visit } from "./StaffVisit.ts"

/** Characters of a comment that the list shows. */
const commentCharactersMax = 200

const make = Effect.gen(function*() {
  const people = yield* AccountLines
  const reports = yield* AdminReports
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { query, words: { figure, say }, words } = visit
    const asked = query.get("state")
    const state = asked === "resolved" || asked === "all" ? asked : "open"
    const selection = {
      accountId: idOf(query.get("account_id")),
      targetAccountId: idOf(query.get("target_account_id")),
      targetDomain: query.get("by_target_domain") || undefined
    }
    const found = yield* reports.page({ ...selection, state }, pageOf(visit))
    const counts = yield* Effect.all({
      open: reports.total({ ...selection, state: "open" }),
      resolved: reports.total({ ...selection, state: "resolved" }),
      all: reports.total({ ...selection, state: "all" })
    })
    const names = yield* people.load(
      found.flatMap((
        { accountId, assignedAccountId, targetAccountId }
      ) => [accountId, targetAccountId, assignedAccountId])
    )
    const rows = found.map((report) => [
      html`<a href="${reportPath(report.id)}">${categories[report.category](words)}</a>${
        report.comment === ""
          ? ""
          : html`<span class="hint" dir="auto">${report.comment.slice(0, commentCharactersMax)}</span>`
      }`,
      names.line(report.targetAccountId),
      names.line(report.accountId),
      figure(report.statusIds.length),
      html`${reportState(words, report)}${
        report.assignedAccountId === null || report.actionTakenAt !== null
          ? ""
          : html` <span class="soft">${names.handle(report.assignedAccountId) ?? ""}</span>`
      }`,
      moment(words, report.createdAt)
    ])
    return {
      title: say("Reports"),
      body: html`${
        tabs(visit, "state", [
          ["", say("Open"), counts.open],
          ["resolved", say("Resolved"), counts.resolved],
          ["all", say("All"), counts.all]
        ])
      }${filters(visit, html`${filterText(visit, "by_target_domain", say("Server of the account"))}`)}${
        total(visit, counts[state])
      }${
        rows.length === 0
          ? emptyList(say("No reports match. Have a cup of tea."))
          : table(
            [say("Report"), say("Reported account"), say("Reported by"), say("Posts"), say("State"), say("Since")],
            rows,
            say("Reports")
          )
      }${pager(visit, found.map(({ id }) => id))}`
    }
  })

  return staff.page({ path: "/admin/reports", permission: "manageReports", show })
})

/** List of reports, by default the open ones. */
export const layer = Layer.unwrap(make)
