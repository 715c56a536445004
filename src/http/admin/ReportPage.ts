import { Effect, Layer } from "effect"
import type { ClientError } from "../../services/Errors.ts"
import type { AccountId } from "../../services/Ids.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { actionTypes } from "../../services/moderation/ActionTypes.ts"
import { type AdminReport, AdminReports } from "../../services/moderation/AdminReports.ts"
import { ReportDesk } from "../../services/moderation/ReportDesk.ts"
import { type Html, html } from "../html/Html.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import { actionForm, taking } from "./parts/ActionForm.ts"
import { actButton, button, checkbox, form, select } from "./parts/Controls.ts"
import { nothing } from "./parts/Lists.ts"
import { NoteList } from "./parts/NoteList.ts"
import { type Names, People } from "./parts/People.ts"
import { PostActs, postFields } from "./parts/PostActs.ts"
import { ReportedPosts } from "./parts/ReportedPosts.ts"
import { categories, reportPath, reportState } from "./parts/ReportLines.ts"
import { definitions, moment, section, written } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { type Act, idOf, requireId, type Visit } from "./Visit.ts"

const make = Effect.gen(function*() {
  const decisions = yield* AccountDecisions
  const desk = yield* ReportDesk
  const instance = yield* Instance
  const noteList = yield* NoteList
  const people = yield* People
  const postActs = yield* PostActs
  const posts = yield* ReportedPosts
  const reports = yield* AdminReports
  const staff = yield* StaffPages

  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), (id) => reports.find(id))

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const report = yield* asked(visit)
    const { accountId, actionTakenByAccountId, assignedAccountId, statusIds, targetAccountId } = report
    const names = yield* people.load([accountId, targetAccountId, assignedAccountId, actionTakenByAccountId])
    const open = report.actionTakenAt === null
    const rules = yield* instance.rules
    const named = yield* reports.rules(report.ruleIds)
    const target = names.handle(targetAccountId) ?? ""
    const shown = yield* posts.show(words, statusIds, open)
    return {
      title: say("Report about {name}", { name: target }),
      body: html`<div class="row top">${reportState(words, report)} ${desking(visit, report)}</div>
<div class="columns"><div>
${
        section(
          say("The report"),
          html`${
            definitions([
              [say("About"), names.line(targetAccountId)],
              [say("By"), names.line(accountId)],
              [say("Why"), categories[report.category](words)],
              [
                say("Rules"),
                named.size === 0 ?
                  undefined :
                  html`<ul class="files">${
                    [...named.values()].map(({ text }) => html`<li dir="auto">${text}</li>`)
                  }</ul>`
              ],
              [say("Since"), moment(words, report.createdAt)],
              [say("Works on it"), assignedAccountId === null ? undefined : names.line(assignedAccountId)],
              [
                say("Resolved"),
                open ? undefined : html`${moment(words, report.actionTakenAt)} ${by(names, actionTakenByAccountId)}`
              ],
              [say("Forwarded to"), report.forwardDomains.length === 0 ? undefined : words.list(report.forwardDomains)]
            ])
          }${report.comment === "" ? "" : written(report.comment)}`
        )
      }
${
        section(
          say("Reported posts"),
          statusIds.length === 0
            ? nothing(say("The report names no posts."))
            : open
            ? form(visit, html`${shown}${postFields(visit)}`)
            : shown
        )
      }
</div><div>
${
        open
          ? section(
            say("Act on the account"),
            actionForm(
              visit,
              target,
              actionTypes.filter((type) => type !== "disable" || visit.may("manageUsers"))
            )
          )
          : ""
      }
${
        section(
          say("What it is about"),
          form(
            visit,
            html`${
              select(visit, {
                name: "category",
                label: say("Category"),
                value: report.category,
                choices: Object.entries(categories).map(([name, label]) => [name, label(words)] as const)
              })
            }${
              rules.length === 0 ?
                "" :
                html`<fieldset><legend>${say("Rules that it breaks")}</legend>${
                  rules.map(({ id, text }) =>
                    checkbox(visit, {
                      name: "rules[]",
                      value: String(id),
                      label: text,
                      checked: report.ruleIds.includes(id)
                    })
                  )
                }</fieldset>`
            }${button("update", say("Change it"))}`
          )
        )
      }
${yield* noteList.show(visit, { type: "report", id: report.id })}
</div></div>`
    }
  })

  const simple = (
    work: (by: AccountId, id: bigint) => Effect.Effect<void, ClientError>,
    notice: (words: Visit["words"]) => string,
    undo?: string
  ): Act => ({
    run: Effect.fnUntraced(function*(visit) {
      const id = yield* requireId(visit)
      yield* work(visit.by, id)
      return {
        notice: notice(visit.words),
        ...(undo === undefined ? {} : { undo: { path: reportPath(id), act: undo } })
      }
    })
  })

  return staff.page({
    path: "/admin/reports/:id",
    permission: "manageReports",
    show,
    acts: {
      ...noteList.acts("report"),
      assign: simple(desk.assign, ({ say }) => say("Done: you work on this report."), "unassign"),
      unassign: simple(desk.unassign, ({ say }) => say("Done: nobody works on this report."), "assign"),
      resolve: simple(desk.resolve, ({ say }) => say("Done: the report is resolved."), "reopen"),
      reopen: simple(desk.reopen, ({ say }) => say("Done: the report is open again."), "resolve"),
      update: {
        run: Effect.fnUntraced(function*(visit) {
          const id = yield* requireId(visit)
          const ruleIds = visit.form.getAll("rules").flatMap((one) => idOf(one) ?? [])
          const category = visit.form.get("category") ?? undefined
          yield* desk.update(visit.by, id, { category, ruleIds: category === "violation" ? ruleIds : [] })
          return { notice: visit.words.say("Done: the report is changed.") }
        })
      },
      posts: postActs.act(asked),
      take: taking(decisions, (visit) =>
        Effect.gen(function*() {
          const { id, targetAccountId } = yield* asked(visit)
          const names = yield* people.load([targetAccountId])
          return { id: targetAccountId, name: names.handle(targetAccountId) ?? "", reportId: id }
        }))
    }
  })
})

const by = (names: Names, id: bigint | null): string => names.handle(id) ?? ""

/** Taking a report, and ending it. */
const desking = (visit: Visit, { actionTakenAt, assignedAccountId }: AdminReport): Html => {
  const { say } = visit.words
  if (actionTakenAt !== null) return actButton(visit, "reopen", say("Open again"))
  return html`${
    assignedAccountId === null
      ? actButton(visit, "assign", say("I work on it"))
      : actButton(visit, "unassign", say("Nobody works on it"))
  }${actButton(visit, "resolve", say("Resolve without an act"))}`
}

/** One report with what it names, and what is done about it. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([PostActs.layer, ReportDesk.layer, ReportedPosts.layer])
)
