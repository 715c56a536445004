import { Effect, Layer } from "effect"
import { DefaultPolicies } from "../../../services/statuses/DefaultPolicies.ts"
import { controlled } from "../../../services/statuses/InteractionPolicy.ts"
import { type Html, html } from "../../html/Html.ts"
import { choiceOf, entriesOf, policyField } from "../policies/PolicyChoices.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { form } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const visibilities = ["public", "unlisted", "private"] as const
const make = Effect.gen(function*() {
  const page = yield* SettingPages.make
  const policies = yield* DefaultPolicies

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const stored = yield* policies.of(visit.viewer)
    const titles = { public: say("Public"), unlisted: say("Quiet public"), private: say("Followers only") }
    const row = (visibility: typeof visibilities[number], interaction: typeof controlled[number]): Html => {
      const name = `${visibility}.${interaction}`
      const askName = `${name}.ask`
      const { mayAsk, audience } = choiceOf(stored[visibility], interaction)
      const chosen = { audience: filled.text(name, audience), mayAsk: filled.isOn(askName, mayAsk) }
      return policyField(visit.reader.words, interaction, { name, askName, chosen })
    }
    return html`<p>${
      say(
        "These rules apply to your new posts, on servers that support them. People you mention may always reply."
      )
    }</p>
${
      form(
        visit,
        html`${
          visibilities.map((visibility) =>
            html`<h2>${titles[visibility]}</h2><div class="two">${
              controlled.map((interaction) => html`<div>${row(visibility, interaction)}</div>`)
            }</div>`
          )
        }`,
        { act: "save", button: say("Save changes") }
      )
    }`
  })

  const save = Effect.fnUntraced(function*({ viewer }: MemberVisit, sent: URLSearchParams) {
    const stored = yield* policies.of(viewer)
    const chosen = Effect.fnUntraced(function*(visibility: typeof visibilities[number]) {
      const parts = yield* Effect.forEach(controlled, (interaction) => {
        const name = `${visibility}.${interaction}`
        return entriesOf(interaction, { audience: sent.get(name) ?? "public", mayAsk: sent.has(`${name}.ask`) })
      })
      return parts.flat()
    })
    yield* policies.change(viewer, {
      direct: stored.direct,
      public: yield* chosen("public"),
      unlisted: yield* chosen("unlisted"),
      private: yield* chosen("private")
    })
  })

  return page({ path: "/settings/interactions", title: ({ say }) => say("Who may interact"), show, acts: { save } })
})

/** Default interaction policies of the member's new posts. */
export const layer = Layer.unwrap(make)
