import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { WebPages } from "../shell/WebPages.ts"
import { settingsList, settingsPath } from "./SettingsNavigation.ts"

const make = Effect.gen(function*() {
  const pages = yield* WebPages
  const list = pages.member((visit) =>
    Effect.succeed({
      title: visit.reader.words.say("Settings"),
      body: html`<p class="soft">${
        visit.reader.words.say("Signed in as {account}", { account: `@${visit.session.username}` })
      }</p><nav class="settings-list" aria-label="${visit.reader.words.say("Settings")}">${settingsList(visit)}</nav>`
    })
  )
  return Layer.mergeAll(
    HttpRouter.add("GET", settingsPath, list),
    // Mastodon's addresses.
    HttpRouter.add("GET", "/settings/preferences", redirect("/settings/reading")),
    HttpRouter.add("GET", "/settings/preferences/appearance", redirect("/settings/reading")),
    HttpRouter.add("GET", "/settings/preferences/posting_defaults", redirect("/settings/posting")),
    HttpRouter.add("GET", "/settings/preferences/notifications", redirect("/settings/notifications")),
    HttpRouter.add("GET", "/settings/preferences/other", redirect("/settings/posting")),
    HttpRouter.add("GET", "/filters", redirect("/settings/filters")),
    HttpRouter.add("GET", "/relationships", redirect("/settings/relationships")),
    HttpRouter.add("GET", "/statuses_cleanup", redirect("/settings/cleanup")),
    HttpRouter.add("GET", "/settings/featured_tags", redirect("/settings/featured"))
  )
})

/** List of all settings pages. */
export const layer = Layer.unwrap(make)
