import { Effect, Layer } from "effect"
import type { Messages } from "../../../services/languages/Messages.ts"
import type { SpamRule } from "../../../services/spam/SpamRule.ts"
import { SpamRules } from "../../../services/spam/SpamRules.ts"
import { runDaysMax, SpamRuns } from "../../../services/spam/SpamRuns.ts"
import { html } from "../../html/Html.ts"
import { actButton, button, form, textField } from "../../staff/pages/parts/Controls.ts"
import { emptyList, table } from "../../staff/pages/parts/Tables.ts"
import { badge, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { idOf, type Visit } from "../../staff/pages/StaffVisit.ts"
import { figureIn, spamActionNames, spamRulesPath as path, stateNames } from "./SpamRuleForm.ts"
import { runState } from "./SpamRunState.ts"

const tones = { off: "plain", dry: "warn", on: "good" } as const

const make = Effect.gen(function*() {
  const rules = yield* SpamRules
  const runs = yield* SpamRuns
  const staff = yield* StaffPages

  const turnTexts: Readonly<Record<SpamRule["state"], (words: Messages) => string>> = {
    off: ({ say }) => say("Disable"),
    dry: ({ say }) => say("Count only"),
    on: ({ say }) => say("Enable")
  }

  const chain = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, say }, words } = visit
    const all = yield* rules.list
    if (all.length === 0) return emptyList(say("No rules yet."))
    const hits = yield* rules.hits(all.map(({ id }) => id))
    const move = (id: bigint, label: string, place: number) =>
      actButton(visit, "move", label, { fields: { id: String(id), place: String(place) } })
    const rows = all.map(({ action, id, name, state }, at) => {
      const { dry, on } = hits.get(id) ?? { on: 0, dry: 0 }
      return [
        String(at + 1),
        html`<a href="${path}/${String(id)}">${name}</a>`,
        badge(stateNames[state](words), tones[state]),
        spamActionNames[action](words),
        html`${figure(on)}<span class="hint">${say("{count} while counting only", { count: figure(dry) })}</span>`,
        html`<div class="row">${at === 0 ? "" : move(id, say("Move up"), at)}${
          at === all.length - 1 ? "" : move(id, say("Move down"), at + 2)
        }${
          (["off", "dry", "on"] as const).filter((one) => one !== state).map((one) =>
            actButton(visit, "turn", turnTexts[one](words), { fields: { id: String(id), state: one } })
          )
        }</div>`
      ]
    })
    return table(
      [say("Position"), say("Rule"), say("State"), say("Action"), say("Matches in two weeks"), say("Actions")],
      rows,
      say("Spam rules")
    )
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, say }, words } = visit
    const tried = (yield* runs.list).map((run) => [
      html`<a href="${path}/dry_runs/${String(run.id)}">${moment(words, run.createdAt)}</a>`,
      figure(run.days),
      runState(words, run),
      figure(run.statuses)
    ])
    return {
      title: say("Spam rules"),
      body: html`<p class="soft">${
        say("Rules are checked in order before a post is stored. Posts of staff are exempt.")
      }</p>${yield* chain(visit)}<p><a href="${path}/new">${say("New rule")}</a></p>${
        section(
          say("Test against recent posts"),
          html`<p class="soft">${
            say("Shows what each rule would have matched, including rules that are off. Changes nothing.")
          }</p>${
            form(
              visit,
              html`${
                textField(visit, {
                  name: "days",
                  type: "number",
                  label: say("Number of days, up to {max}", { max: runDaysMax }),
                  value: String(runDaysMax),
                  required: true
                })
              }${button("try", say("Start dry run"), "main")}`
            )
          }${
            tried.length === 0
              ? ""
              : table([say("Date"), say("Days"), say("State"), say("Posts")], tried, say("Dry runs"))
          }`
        )
      }`
    }
  })

  return staff.page({
    path: "/admin/spam_rules",
    permission: "manageRules",
    show,
    acts: {
      move: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const place = yield* figureIn(sent.get("place"), "Position is not included in the list")
          yield* rules.update(by, idOf(sent.get("id")) ?? 0n, { place })
          return { notice: words.say("The order was saved.") }
        })
      },
      turn: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const id = idOf(sent.get("id")) ?? 0n
          const before = yield* rules.find(id)
          yield* rules.update(by, id, { state: sent.get("state") ?? "" })
          return {
            notice: words.say("The rule was changed."),
            undo: { path, act: "turn", fields: { id: String(id), state: before.state } }
          }
        })
      },
      try: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const days = yield* figureIn(sent.get("days"), "Days is not included in the list")
          const run = yield* runs.start(by, days ?? runDaysMax)
          return { notice: words.say("The dry run has started."), to: `${path}/dry_runs/${run.id}` }
        })
      }
    }
  })
})

/** Chain of spam rules, and its dry runs. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([SpamRules.layer, SpamRuns.layer]))
