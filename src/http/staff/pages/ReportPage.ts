import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { AccountId } from "../../../services/database/Ids.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import { actionTypes } from "../../../services/moderation/ActionTypes.ts"
import { type AdminReport, AdminReports } from "../../../services/moderation/AdminReports.ts"
import { ReportDesk } from "../../../services/moderation/ReportDesk.ts"
import { WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import type { ClientError } from "../../../services/runtime/Errors.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import { AccountLines, type AccountNames } from "./parts/AccountLines.ts"
import { actionForm, takeAction } from "./parts/ActionForm.ts"
import { actButton, button, checkbox, form, select } from "./parts/Controls.ts"
import { NoteList } from "./parts/NoteList.ts"
import { PostActs, postFields } from "./parts/PostActs.ts"
import { ReportedCollections } from "./parts/ReportedCollections.ts"
import { ReportedPosts } from "./parts/ReportedPosts.ts"
import { categories, reportPath, reportState } from "./parts/ReportLines.ts"
import { emptyList } from "./parts/Tables.ts"
import { definitions, moment, section, userText } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { type Act, idOf, requireId, type Visit } from "./StaffVisit.ts"

const make = Effect.gen(function*() {
  const decisions = yield* AccountDecisions
  const desk = yield* ReportDesk
  const instance = yield* Instance
  const noteList = yield* NoteList
  const people = yield* AccountLines
  const postActs = yield* PostActs
  const collections = yield* ReportedCollections
  const posts = yield* ReportedPosts
  const reports = yield* AdminReports
  const actors = yield* AccountActors
  const presets = yield* WarningPresets
  const staff = yield* StaffPages

  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), (id) => reports.find(id))

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const report = yield* asked(visit)
    const { accountId, actionTakenByAccountId, assignedAccountId, collectionIds, statusIds, targetAccountId } = report
    const names = yield* people.load([accountId, targetAccountId, assignedAccountId, actionTakenByAccountId])
    const open = report.actionTakenAt === null
    const rules = yield* instance.rules
    const broken = yield* reports.rules(report.ruleIds)
    const target = names.handle(targetAccountId) ?? ""
    const theirs = names.find(targetAccountId)?.domain ?? null
    const shown = yield* posts.show(words, statusIds, open)
    const named = statusIds.length + collectionIds.length > 0
    const lists = collectionIds.length === 0
      ? html``
      : html`<h3>${say("Reported collections")}</h3>${yield* collections.show(visit, collectionIds, open)}`
    return {
      title: say("Report about {name}", { name: target }),
      body: html`<div class="row top">${reportState(words, report)} ${assignmentButtons(visit, report)}${
        theirs === null || report.forwardDomains.includes(theirs)
          ? ""
          : actButton(visit, "forward", say("Forward to {domain}", { domain: theirs }))
      }</div>
<div class="columns"><div>
${
        section(
          say("Report details"),
          html`${
            definitions([
              [say("Reported account"), names.line(targetAccountId)],
              [say("Reported by"), names.line(accountId)],
              [say("Reason given by reporter"), categories[report.category](words)],
              [
                say("Rules"),
                broken.size === 0 ?
                  undefined :
                  html`<ul class="files">${
                    [...broken.values()].map(({ text }) => html`<li dir="auto">${text}</li>`)
                  }</ul>`
              ],
              [say("Since"), moment(words, report.createdAt)],
              [say("Assigned to"), assignedAccountId === null ? undefined : names.line(assignedAccountId)],
              [
                say("Resolved"),
                open ? undefined : html`${moment(words, report.actionTakenAt)} ${by(names, actionTakenByAccountId)}`
              ],
              [say("Forwarded to"), report.forwardDomains.length === 0 ? undefined : words.list(report.forwardDomains)]
            ])
          }${report.comment === "" ? "" : userText(report.comment)}`
        )
      }
${
        section(
          say("Reported posts"),
          !named
            ? emptyList(say("The report includes no posts."))
            : open
            ? form(visit, html`${shown}${lists}${postFields(visit)}`)
            : html`${shown}${lists}`
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
              actionTypes.filter((type) => type !== "disable" || visit.may("manageUsers")),
              yield* presets.list
            )
          )
          : ""
      }
${
        section(
          say("Classification"),
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
                html`<fieldset><legend>${say("Rules violated")}</legend>${
                  rules.map(({ id, text }) =>
                    checkbox(visit, {
                      name: "rules[]",
                      value: String(id),
                      label: text,
                      checked: report.ruleIds.includes(id)
                    })
                  )
                }</fieldset>`
            }${button("update", say("Save changes"))}`
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
      assign: simple(desk.assign, ({ say }) => say("The report is assigned to you."), "unassign"),
      unassign: simple(desk.unassign, ({ say }) => say("The report is unassigned."), "assign"),
      resolve: simple(desk.resolve, ({ say }) => say("The report was resolved."), "reopen"),
      reopen: simple(desk.reopen, ({ say }) => say("The report was reopened."), "resolve"),
      update: {
        run: Effect.fnUntraced(function*(visit) {
          const id = yield* requireId(visit)
          const ruleIds = visit.form.getAll("rules").flatMap((one) => idOf(one) ?? [])
          const category = visit.form.get("category") ?? undefined
          yield* desk.update(visit.by, id, { category, ruleIds: category === "violation" ? ruleIds : [] })
          return { notice: visit.words.say("The report was changed.") }
        })
      },
      forward: {
        confirm: Effect.fnUntraced(function*(visit) {
          const { targetAccountId } = yield* asked(visit)
          const names = yield* people.load([targetAccountId])
          const { say } = visit.words
          return {
            title: say("Forward the report?"),
            text: say(
              "{domain} receives the comment and the posts, but not the name of the reporter. This cannot be undone.",
              {
                domain: names.find(targetAccountId)?.domain ?? ""
              }
            ),
            button: say("Forward")
          }
        }),
        run: Effect.fnUntraced(function*(visit) {
          const { id } = yield* asked(visit)
          yield* actors.tell(visit.by, { _tag: "ForwardReport", reportId: id, domains: [] })
          return { notice: visit.words.say("The report was forwarded.") }
        })
      },
      posts: postActs.act(asked),
      take: takeAction(decisions, presets, (visit) =>
        Effect.gen(function*() {
          const { id, targetAccountId } = yield* asked(visit)
          const names = yield* people.load([targetAccountId])
          return { id: targetAccountId, name: names.handle(targetAccountId) ?? "", reportId: id }
        }))
    }
  })
})

const by = (names: AccountNames, id: bigint | null): string => names.handle(id) ?? ""

/** Returns the buttons to assign, resolve or reopen a report. */
const assignmentButtons = (visit: Visit, { actionTakenAt, assignedAccountId }: AdminReport): Html => {
  const { say } = visit.words
  if (actionTakenAt !== null) return actButton(visit, "reopen", say("Reopen"))
  return html`${
    assignedAccountId === null
      ? actButton(visit, "assign", say("Assign to me"))
      : actButton(visit, "unassign", say("Unassign"))
  }${actButton(visit, "resolve", say("Resolve without action"))}`
}

/** Page of one report: its target, reported content and moderation actions. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([PostActs.layer, ReportDesk.layer, ReportedCollections.layer, ReportedPosts.layer])
)
