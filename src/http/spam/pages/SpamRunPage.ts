import { Effect, Layer } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type SpamRun, SpamRuns } from "../../../services/spam/SpamRuns.ts"
import { type Html, html } from "../../html/Html.ts"
import { ReportedPosts } from "../../staff/pages/parts/ReportedPosts.ts"
import { emptyList, table } from "../../staff/pages/parts/Tables.ts"
import { definitions, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { idOf, requireId, type Visit } from "../../staff/pages/StaffVisit.ts"
import { spamRulesPath } from "./SpamRuleForm.ts"
import { runState } from "./SpamRunState.ts"

/** Returns the table of matches by rule; a rule's samples are on a page of their own. */
const found = ({ figure, say }: Messages, path: string, { results }: SpamRun): Html =>
  results.length === 0 ? emptyList(say("No rules yet.")) : table(
    [say("Rule"), say("Posts"), say("Accounts"), say("Samples")],
    results.map(({ accounts, name, ruleId, samples, statuses }) => [
      html`<bdi>${name}</bdi>`,
      figure(statuses),
      figure(accounts),
      samples.length === 0 ?
        "–" :
        html`<a href="${path}?rule=${String(ruleId)}">${
          say("{count, plural, one {# sample} other {# samples}} of {name}", { count: samples.length, name })
        }</a>`
    ]),
    say("Matches of each rule")
  )

const make = Effect.gen(function*() {
  const posts = yield* ReportedPosts
  const runs = yield* SpamRuns
  const staff = yield* StaffPages

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { path, query, words: { figure, say }, words } = visit
    const run = yield* Effect.flatMap(requireId(visit), runs.find)
    const shown = run.results.find(({ ruleId }) => ruleId === idOf(query.get("rule")))
    return {
      title: say("Results of the dry run"),
      body: html`<div class="row top">${runState(words, run)}${
        run.state === "waiting" ? html`<a href="${path}">${say("Refresh")}</a>` : ""
      }</div>${
        definitions([
          [say("Days"), figure(run.days)],
          [say("Posts checked"), figure(run.statuses)],
          [say("Started"), moment(words, run.createdAt)],
          [say("Finished"), moment(words, run.finishedAt)]
        ])
      }${run.state === "failed" ? "" : found(words, path, run)}${
        shown === undefined ? "" : section(
          say("Samples of {name}", { name: shown.name }),
          html`<p class="soft">${say("Public posts only.")}</p>${yield* posts.show(
            words,
            shown.samples,
            false
          )}`
        )
      }<p><a href="${spamRulesPath}">${say("All rules")}</a></p>`
    }
  })

  return staff.page({ path: "/admin/spam_rules/dry_runs/:id", permission: "manageRules", show })
})

/** Results of a dry run of the spam rules. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([ReportedPosts.layer, SpamRuns.layer]))
