import { Effect, Layer } from "effect"
import { DefaultPolicies } from "../../../services/statuses/DefaultPolicies.ts"
import {
  controlled,
  type Interaction,
  type StoredPolicy,
  subPolicyOf
} from "../../../services/statuses/InteractionPolicy.ts"
import { type Html, html } from "../../html/Html.ts"
import { policyEntriesOf } from "../../v1/PolicyPayloads.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { checkBox, choice, form } from "./Fields.ts"
import type { Filled } from "./Filled.ts"
import * as SettingPages from "./SettingPages.ts"

const visibilities = ["public", "unlisted", "private"] as const
const groups = ["public", "followers", "following", "mutuals", "author"] as const
/** Choice for a stored policy that the form cannot express, which stays as it is. */
const custom = "custom"

const given = { canReply: "canReply", canLike: "canFavourite", canAnnounce: "canReblog" } as const

/** Returns the choice of the form for a stored policy. */
const shownOf = (stored: StoredPolicy, interaction: Interaction): readonly [who: string, mayAsk: boolean] => {
  const policy = subPolicyOf(stored, interaction)
  if (policy === undefined) return ["public", false]
  const { automatic, manual } = policy
  const mayAsk = manual.length === 1 && manual[0] === "public"
  if (automatic.length > 1 || (manual.length > 0 && !mayAsk)) return [custom, false]
  const who = automatic[0] ?? "author"
  return groups.some((one) => one === who) ? [who, mayAsk] : [custom, false]
}

const make = Effect.gen(function*() {
  const page = yield* SettingPages.make
  const policies = yield* DefaultPolicies

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const stored = yield* policies.of(visit.viewer)
    const titles = { public: say("Public"), unlisted: say("Quiet public"), private: say("Followers only") }
    const labels = {
      canReply: say("Who may reply"),
      canLike: say("Who may favourite"),
      canAnnounce: say("Who may boost")
    }
    const row = (visibility: typeof visibilities[number], interaction: typeof controlled[number]): Html => {
      const name = `${visibility}.${interaction}`
      const [who, mayAsk] = shownOf(stored[visibility], interaction)
      return html`${
        choice(name, labels[interaction], filled.text(name, who), [
          ["public", say("Everyone")],
          ["followers", say("Your followers")],
          ["following", say("People you follow")],
          ["mutuals", say("Mutual follows")],
          ["author", say("Only you")],
          ...(who === custom ? [[custom, say("As set in an app")] as const] : [])
        ])
      }${checkBox(`${name}.ask`, say("Others may ask you first"), filled.isOn(`${name}.ask`, mayAsk))}`
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
    const wordsOf = Effect.fnUntraced(function*(visibility: typeof visibilities[number]) {
      const parts = yield* Effect.forEach(
        controlled,
        Effect.fnUntraced(function*(interaction) {
          const name = `${visibility}.${interaction}`
          const who = sent.get(name) ?? "public"
          if (who === custom) {
            return stored[visibility].filter((word) => word === interaction || word.startsWith(`${interaction}:`))
          }
          const manualApproval = sent.has(`${name}.ask`) && who !== "public" ? ["public"] : []
          return (yield* policyEntriesOf({ [given[interaction]]: { automaticApproval: [who], manualApproval } })) ?? []
        })
      )
      return parts.flat()
    })
    yield* policies.change(viewer, {
      direct: stored.direct,
      public: yield* wordsOf("public"),
      unlisted: yield* wordsOf("unlisted"),
      private: yield* wordsOf("private")
    })
  })

  return page({ path: "/settings/interactions", title: ({ say }) => say("Who may interact"), show, acts: { save } })
})

/** Default interaction policies of the member's new posts. */
export const layer = Layer.unwrap(make)
