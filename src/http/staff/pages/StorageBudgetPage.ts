import { Effect, Layer } from "effect"
import { InstanceSettings } from "../../../services/instance/InstanceSettings.ts"
import { type BudgetKind, budgetKinds, type StorageBudgets } from "../../../services/instance/StorageBudgets.ts"
import { StorageFigures } from "../../../services/metrics/StorageFigures.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { button, form, textField } from "./parts/Controls.ts"
import { budgetNames, storage } from "./parts/StorageSection.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import type { Visit } from "./StaffVisit.ts"

/** Unit of the form fields, in bytes. */
const unit = 1_048_576
/** Maximum digits of a field. */
const digitsMax = 9

const fieldsOf = (budgets: StorageBudgets): Readonly<Record<string, string>> =>
  Object.fromEntries(budgetKinds.flatMap((kind) => {
    const bytes = budgets[kind]
    return bytes === undefined ? [] : [[kind, String(Math.round(bytes / unit))]]
  }))

const sentIn = Effect.fnUntraced(function*({ form: sent }: Visit) {
  const budgets: { [Kind in BudgetKind]?: number } = {}
  for (const kind of budgetKinds) {
    const text = sent.get(kind)?.trim() ?? ""
    if (!/^\d*$/.test(text) || text.length > digitsMax) return yield* validationFailed("Storage budget is invalid")
    if (text !== "") budgets[kind] = Number(text) * unit
  }
  return budgets
})

const make = Effect.gen(function*() {
  const figures = yield* StorageFigures
  const settings = yield* InstanceSettings
  const staff = yield* StaffPages

  return staff.page({
    path: "/admin/settings/budgets",
    permission: "manageSettings",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const now = yield* figures.current
      const values = fieldsOf(now.budgets)
      return {
        title: say("Storage budgets"),
        body: html`<p><a href="/admin/settings">${say("Server settings")}</a></p><div class="columns">${
          section(
            say("Budgets"),
            html`<p class="soft">${
              say(
                "The dashboard warns when a budget is exceeded. Nothing is refused or removed because of it."
              )
            }</p>${
              form(
                visit,
                html`${
                  budgetKinds.map((kind) =>
                    textField(visit, {
                      name: kind,
                      type: "number",
                      label: budgetNames[kind](words),
                      hint: say("In MB; empty or 0 for no budget."),
                      value: values[kind] ?? ""
                    })
                  )
                }${button("save", say("Save"), "main")}`
              )
            }`
          )
        }${section(say("Storage"), storage(words, now))}</div>`
      }
    }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const { budgets } = yield* figures.current
          yield* settings.change(visit.by, { storageBudgets: yield* sentIn(visit) })
          return {
            notice: visit.words.say("The budgets were saved."),
            undo: { path: visit.path, act: "save", fields: fieldsOf(budgets) }
          }
        })
      }
    }
  })
})

/** Budgets for the storage of files and of the database. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([InstanceSettings.layer, StorageFigures.layer]))
