import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { Settings } from "../../../services/identity/Settings.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { html } from "../../html/Html.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, form } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const config = yield* ServerConfig
  const page = yield* SettingPages.make
  const settings = yield* Settings
  const views = yield* AccountViews

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const stored = yield* settings.of(visit.viewer)
    const emails = config.emailSubscriptions ? read(yield* views.renderOne(visit.viewer)).emailSubscriptions : undefined
    return form(
      visit,
      html`<h2>${say("Reach")}</h2>
${
        checkBox(
          "discoverable",
          say("Feature my profile and posts in discovery"),
          filled.isOn("discoverable", stored.discoverable === true),
          say("In the directory, in trends and among suggestions, here and on other servers.")
        )
      }
${
        checkBox(
          "indexable",
          say("Include my public posts in search results"),
          filled.isOn("indexable", stored.indexable),
          say("Others can search the text of your public posts. People who interacted with a post can always find it.")
        )
      }
${
        checkBox(
          "search_engines",
          say("Let search engines index my profile"),
          filled.isOn("search_engines", !stored.noindex),
          say("Search engines may show your public profile and posts.")
        )
      }
<h2>${say("Privacy")}</h2>
${
        checkBox(
          "show_collections",
          say("Show follows and followers on my profile"),
          filled.isOn("show_collections", stored.hideCollections !== true),
          say("Others see whom you follow and who follows you. Those people can always see it themselves.")
        )
      }
${
        checkBox(
          "show_application",
          say("Show the app that I post with"),
          filled.isOn("show_application", stored.showApplication)
        )
      }
${
        emails === undefined ? "" : html`<h2>${say("Posts by email")}</h2>${
          checkBox(
            "email_subscriptions",
            say("Let people without an account get my public posts by email"),
            filled.isOn("email_subscriptions", emails)
          )
        }`
      }`,
      { act: "save", button: say("Save changes") }
    )
  })

  const save = Effect.fnUntraced(function*({ viewer }: MemberVisit, sent: URLSearchParams) {
    const emails = config.emailSubscriptions ? read(yield* views.renderOne(viewer)).emailSubscriptions : undefined
    const isOn = sent.has("email_subscriptions")
    yield* actors.tell(viewer, {
      _tag: "UpdateProfile",
      change: {
        discoverable: sent.has("discoverable"),
        indexable: sent.has("indexable"),
        noindex: !sent.has("search_engines"),
        hideCollections: !sent.has("show_collections"),
        showApplication: sent.has("show_application"),
        // A role that does not allow the offer is refused only if the member asks for it.
        ...(emails !== undefined && emails !== isOn && { emailSubscriptions: isOn })
      }
    })
  })

  return page({
    path: "/settings/privacy",
    title: ({ say }) => say("Privacy and reach"),
    show,
    acts: { save }
  })
})

/** Discovery, search engines, and what others see of the member's lists and apps. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountViews.layer))
