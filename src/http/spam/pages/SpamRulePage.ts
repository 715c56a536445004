import { Effect, Layer } from "effect"
import { SpamRules } from "../../../services/spam/SpamRules.ts"
import { html } from "../../html/Html.ts"
import { actButton } from "../../staff/pages/parts/Controls.ts"
import { section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { requireId, type Visit } from "../../staff/pages/StaffVisit.ts"
import { spamRuleForm, spamRuleIn, spamRulesPath } from "./SpamRuleForm.ts"

const make = Effect.gen(function*() {
  const rules = yield* SpamRules
  const staff = yield* StaffPages
  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), rules.find)

  const fresh = staff.page({
    path: "/admin/spam_rules/new",
    permission: "manageRules",
    show: (visit) => Effect.succeed({ title: visit.words.say("New spam rule"), body: spamRuleForm(visit, "create") }),
    acts: {
      create: {
        run: Effect.fnUntraced(function*(visit) {
          yield* rules.create(visit.by, yield* spamRuleIn(visit))
          return { notice: visit.words.say("The rule was added."), to: spamRulesPath }
        })
      }
    }
  })

  const one = staff.page({
    path: "/admin/spam_rules/:id",
    permission: "manageRules",
    show: Effect.fnUntraced(function*(visit: Visit) {
      const { words: { say } } = visit
      const rule = yield* asked(visit)
      return {
        title: say("Spam rule: {name}", { name: rule.name }),
        body: html`${spamRuleForm(visit, "save", rule)}${
          section(say("Remove"), actButton(visit, "remove", say("Remove"), { kind: "danger" }))
        }<p><a href="${spamRulesPath}">${say("All rules")}</a></p>`
      }
    }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          yield* rules.update(visit.by, yield* requireId(visit), yield* spamRuleIn(visit))
          return { notice: visit.words.say("The rule was changed."), to: spamRulesPath }
        })
      },
      remove: {
        confirm: (visit) =>
          Effect.map(asked(visit), ({ name }) => ({
            title: visit.words.say("Remove this rule?"),
            text: html`<p><bdi>${name}</bdi></p><p>${
              visit.words.say("The rule stops matching. Posts it holds stay held. This cannot be undone.")
            }</p>`,
            button: visit.words.say("Remove"),
            danger: true
          })),
        run: Effect.fnUntraced(function*(visit) {
          yield* rules.remove(visit.by, yield* requireId(visit))
          return { notice: visit.words.say("The rule was removed."), to: spamRulesPath }
        })
      }
    }
  })
  return Layer.merge(fresh, one)
})

/** Page of one spam rule: its conditions, its action and its removal. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(SpamRules.layer))
