import { Effect, Layer } from "effect"
import { Instance } from "../../../services/instance/Instance.ts"
import { InstanceRules } from "../../../services/instance/InstanceRules.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import { actButton, button, form, textArea, textField } from "./parts/Controls.ts"
import { emptyList, table, total } from "./parts/Tables.ts"
import { section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { idOf, requireId, type Visit } from "./StaffVisit.ts"

const path = "/admin/rules"
/** Maximum characters of a rule and of its hint, as in `InstanceRules`. */
const textMax = 300
const hintMax = 1_000

const make = Effect.gen(function*() {
  const instance = yield* Instance
  const rules = yield* InstanceRules
  const staff = yield* StaffPages

  const named = Effect.fnUntraced(function*(id: bigint | undefined) {
    const all = yield* instance.rules
    const at = all.findIndex((rule) => rule.id === id)
    const rule = all[at]
    return rule === undefined ? yield* new RecordNotFound() : { rule, place: at + 1, count: all.length }
  })

  const ruleFields = (visit: Visit, text = "", hint = "") => {
    const { words: { say } } = visit
    return html`${
      textArea(visit, { name: "text", label: say("Rule"), value: text, rows: 2, max: textMax, required: true })
    }${
      textArea(visit, {
        name: "hint",
        label: say("Explanation"),
        hint: say("Shown below the rule where space allows."),
        value: hint,
        rows: 2,
        max: hintMax
      })
    }`
  }

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { list, say } } = visit
    const all = yield* instance.rules
    const rows = all.map(({ hint, id, text, translations }, at) => [
      String(at + 1),
      html`<a href="${path}/${String(id)}">${text}</a>${hint === "" ? "" : html`<span class="hint">${hint}</span>`}`,
      list(Object.keys(translations)),
      html`<div class="row">${
        at === 0 ? "" : actButton(visit, "move", say("Move up"), { fields: { id: String(id), place: String(at) } })
      }${
        at === all.length - 1
          ? ""
          : actButton(visit, "move", say("Move down"), { fields: { id: String(id), place: String(at + 2) } })
      }${actButton(visit, "remove", say("Remove"), { kind: "danger", fields: { id: String(id) } })}</div>`
    ])
    return {
      title: say("Rules"),
      body: html`<p class="soft">${say("People see the rules in this order and accept them when they sign up.")}</p>${
        total(visit, rows.length)
      }${
        rows.length === 0
          ? emptyList(say("No rules yet."))
          : table([say("Position"), say("Rule"), say("Translations"), say("Actions")], rows, say("Rules"))
      }${
        section(
          say("New rule"),
          form(visit, html`${ruleFields(visit)}${button("add", say("Add rule"), "main")}`)
        )
      }`
    }
  })

  const page = staff.page({
    path: "/admin/rules",
    permission: "manageRules",
    show,
    acts: {
      add: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          yield* rules.add(by, { text: sent.get("text") ?? "", hint: sent.get("hint") ?? "" })
          return { notice: words.say("The rule was added.") }
        })
      },
      move: {
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const { rule } = yield* named(idOf(sent.get("id")))
          const place = Number(sent.get("place"))
          yield* rules.change(by, rule.id, { place: Number.isSafeInteger(place) ? place : 1 })
          return { notice: words.say("The order was saved.") }
        })
      },
      remove: {
        confirm: ({ form: sent, words: { say } }) =>
          Effect.map(named(idOf(sent.get("id"))), ({ rule }) => ({
            title: say("Remove this rule?"),
            text: html`<p><bdi>${rule.text}</bdi></p><p>${
              say("New members no longer see it. Reports that cite it are not changed.")
            }</p>`,
            button: say("Remove"),
            danger: true
          })),
        run: Effect.fnUntraced(function*({ by, form: sent, words }) {
          const { rule } = yield* named(idOf(sent.get("id")))
          yield* rules.remove(by, rule.id)
          const { hint, text } = rule
          return { notice: words.say("The rule was removed."), undo: { path, act: "add", fields: { text, hint } } }
        })
      }
    }
  })

  const showOne = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const { place, rule } = yield* named(yield* requireId(visit))
    const translated = Object.entries(rule.translations).toSorted(([a], [b]) => a < b ? -1 : 1)
    return {
      title: say("Rule {place}", { place }),
      body: html`${
        section(
          say("Rule"),
          form(visit, html`${ruleFields(visit, rule.text, rule.hint)}${button("save", say("Save"), "main")}`)
        )
      }${
        translated.map(([language, { hint, text }]) =>
          section(
            language,
            html`<p lang="${language}" dir="auto">${text}</p><p class="soft" lang="${language}" dir="auto">${hint}</p>${
              actButton(visit, "untranslate", say("Delete translation"), { kind: "danger", fields: { language } })
            }`
          )
        )
      }${
        section(
          say("Translation"),
          form(
            visit,
            html`${
              textField(visit, {
                name: "language",
                label: say("Language"),
                hint: say("A language tag, such as de or pt-BR. An existing translation is replaced."),
                required: true
              })
            }${textArea(visit, { name: "translation", label: say("Rule"), rows: 2, max: textMax, required: true })}${
              textArea(visit, { name: "translated_hint", label: say("Explanation"), rows: 2, max: hintMax })
            }${button("translate", say("Save translation"))}`
          )
        )
      }<p><a href="${path}">${say("All rules")}</a></p>`
    }
  })

  const one = staff.page({
    path: "/admin/rules/:id",
    permission: "manageRules",
    show: showOne,
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const { form: sent } = visit
          yield* rules.change(visit.by, yield* requireId(visit), {
            text: sent.get("text") ?? "",
            hint: sent.get("hint") ?? ""
          })
          return { notice: visit.words.say("The rule was changed."), to: path }
        })
      },
      translate: {
        run: Effect.fnUntraced(function*(visit) {
          const { form: sent } = visit
          const text = { text: sent.get("translation") ?? "", hint: sent.get("translated_hint") ?? "" }
          yield* rules.change(visit.by, yield* requireId(visit), {
            translations: { [sent.get("language")?.trim() ?? ""]: text }
          })
          return { notice: visit.words.say("The translation was saved.") }
        })
      },
      untranslate: {
        run: Effect.fnUntraced(function*(visit) {
          const language = visit.form.get("language") ?? ""
          const { rule } = yield* named(yield* requireId(visit))
          const before = Object.hasOwn(rule.translations, language) ? rule.translations[language] : undefined
          if (before === undefined) return yield* new RecordNotFound()
          yield* rules.change(visit.by, rule.id, { translations: { [language]: undefined } })
          return {
            notice: visit.words.say("The translation was deleted."),
            undo: {
              path: visit.path,
              act: "translate",
              fields: { language, translation: before.text, ["translated_hint"]: before.hint }
            }
          }
        })
      }
    }
  })
  return Layer.merge(page, one)
})

/** Server rules, their order and their translations. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(InstanceRules.layer))
