import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { AccountId, parseId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { endorsementsMax } from "../../../services/social/Endorsements.ts"
import { FollowLists } from "../../../services/social/FollowLists.ts"
import { FeaturedTags } from "../../../services/statuses/FeaturedTags.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { hidden } from "../../html/Forms.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { FeaturedTagViews } from "../../render/FeaturedTagViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { plainName } from "../status/StatusText.ts"
import type { Filled } from "./Filled.ts"
import { form, textField } from "./FormFields.ts"
import { personRow } from "./PersonRow.ts"
import * as SettingPages from "./SettingPages.ts"

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const actors = yield* AccountActors
  const featured = yield* FeaturedTags
  const lists = yield* FollowLists
  const page = yield* SettingPages.make
  const people = yield* AccountViews
  const tags = yield* Tags
  const tagViews = yield* FeaturedTagViews

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const own = { id: visit.viewer, suspended: false, hideCollections: false }
    const shown = (yield* tagViews.of(visit.viewer)).map(read)
    const suggested = yield* tags.load(yield* featured.suggestions(visit.viewer))
    const endorsed = yield* lists.endorsed(visit.viewer, own, { limit: endorsementsMax })
    const accountsShown = (yield* people.render(endorsed.map(({ accountId }) => accountId))).map(read)
    return html`<h2>${say("Featured hashtags")}</h2>
<p class="soft">${say("Visitors to your profile can find your public posts by these hashtags.")}</p>
<ul class="apps">${
      shown.map(({ id, name, statusesCount }) =>
        html`<li><div class="row"><span><bdi>#${name}</bdi> <span class="soft">${
          say("{count, plural, one {# post} other {# posts}}", { count: Number(statusesCount) })
        }</span></span>${
          form(visit, hidden("id", String(id)), {
            act: "removeTag",
            button: say("Remove"),
            danger: true,
            label: say("Remove {name}", { name: `#${name}` })
          })
        }</div></li>`
      )
    }</ul>
${
      form(
        visit,
        textField("name", say("Hashtag"), filled.text("name", ""), {
          required: true,
          ...(suggested.length > 0 && {
            hint: say("You often use: {tags}", { tags: suggested.map(({ name }) => `#${name}`).join(" ") })
          })
        }),
        { act: "addTag", button: say("Add hashtag") }
      )
    }
<h2>${say("Featured accounts")}</h2>
<p class="soft">${say("Only accounts that you follow can be featured.")}</p>
<ul class="people">${
      accountsShown.map((account) =>
        html`<li>${
          personRow(visit, account, {
            after: form(visit, hidden("id", String(account.id)), {
              act: "unendorse",
              button: say("Remove"),
              danger: true,
              label: say("Remove {name}", { name: plainName(account) })
            })
          })
        }</li>`
      )
    }</ul>
${
      form(
        visit,
        textField("account", say("Handle"), filled.text("account", ""), {
          required: true,
          hint: say("For example {handle}", { handle: "@name@server.example" })
        }),
        { act: "endorse", button: say("Feature account") }
      )
    }`
  })

  const tagOf = Effect.fnUntraced(function*(owner: bigint, sent: URLSearchParams) {
    const id = parseId(sent.get("id"))
    const found = (yield* featured.of(owner)).find((tag) => tag.id === id)
    return found ?? (yield* new RecordNotFound())
  })
  const targetOf = (sent: URLSearchParams) => {
    const id = parseId(sent.get("id"))
    return id === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(AccountId.make(id))
  }

  return page({
    path: "/settings/featured",
    title: ({ say }) => say("Featured on your profile"),
    show,
    acts: {
      addTag: Effect.fnUntraced(function*({ viewer }, sent) {
        yield* actors.tell(viewer, { _tag: "FeatureTag", name: (sent.get("name") ?? "").trim().replace(/^#/, "") })
      }),
      removeTag: Effect.fnUntraced(function*({ viewer }, sent) {
        const { name } = yield* tagOf(viewer, sent)
        yield* actors.tell(viewer, { _tag: "UnfeatureTag", name })
      }),
      endorse: Effect.fnUntraced(function*({ viewer }, sent) {
        const target = yield* accounts.lookup((sent.get("account") ?? "").trim().replace(/^@/, ""))
        yield* actors.tell(viewer, { _tag: "Endorse", target })
      }),
      unendorse: Effect.fnUntraced(function*({ viewer }, sent) {
        yield* actors.tell(viewer, { _tag: "Unendorse", target: yield* targetOf(sent) })
      })
    }
  })
})

/** Hashtags and accounts that are featured on the member's profile. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, FeaturedTagViews.layer]))
