import { Effect, Layer, Struct } from "effect"
import { NotificationPolicies } from "../../../services/feeds/NotificationPolicies.ts"
import { defaultPolicy, type NotificationPolicy } from "../../../services/notifications/NotificationPolicy.ts"
import { html } from "../../html/Html.ts"
import { decisionsOf } from "../../v1/NotificationPolicyRoutes.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { choice, form } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const subjects = Struct.keys(defaultPolicy)

const make = Effect.gen(function*() {
  const page = yield* SettingPages.make
  const policies = yield* NotificationPolicies

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const { policy, waiting } = yield* policies.of(visit.viewer)
    const labels: Readonly<Record<keyof NotificationPolicy, string>> = {
      notFollowing: say("People you do not follow"),
      notFollowers: say("People who do not follow you, or who followed you less than three days ago"),
      newAccounts: say("Accounts created in the past 30 days"),
      privateMentions: say("Unsolicited private mentions"),
      limitedAccounts: say("Accounts limited by moderators"),
      bots: say("Automated accounts"),
      newConversations: say("Strangers in conversations that you are not part of")
    }
    return html`<h2>${say("Notifications from")}</h2>
${
      form(
        visit,
        html`${
          subjects.map((subject) =>
            choice(subject, labels[subject], filled.text(subject, policy[subject]), [
              ["accept", say("Accept")],
              ["filter", say("Filter: keep as a request")],
              ["drop", say("Ignore: never notify")]
            ])
          )
        }`,
        { act: "save", button: say("Save changes") }
      )
    }
${
      waiting.requests === 0 ? "" : html`<p class="soft">${
        say(
          "{count, plural, one {Notifications from # person were filtered.} other {Notifications from # people were filtered.}}",
          {
            count: waiting.requests
          }
        )
      }</p>`
    }`
  })

  const save = Effect.fnUntraced(function*({ viewer }: MemberVisit, sent: URLSearchParams) {
    const decisions = yield* decisionsOf(Object.fromEntries(subjects.map((subject) => [subject, sent.get(subject)])))
    yield* policies.change(viewer, (before) => ({ ...before, ...decisions }))
  })

  return page({ path: "/settings/notifications", title: ({ say }) => say("Notifications"), show, acts: { save } })
})

/** Treatment of notifications from accounts that may be unwanted. */
export const layer = Layer.unwrap(make)
