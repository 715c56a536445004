import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { ExpandMedia, Settings } from "../../../services/identity/Settings.ts"
import { ColorScheme, WebSettingsWriter } from "../../../services/identity/WebSettings.ts"
import { Catalogs } from "../../../services/languages/Catalogs.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { html } from "../../html/Html.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, checkBoxes, choice, form } from "./FormFields.ts"
import { languageChoices, ownName } from "./LanguageChoices.ts"
import * as SettingPages from "./SettingPages.ts"

/** Returns the value out of a list that a form sent. */
const oneOf = <const A extends string>(name: string, sent: URLSearchParams, allowed: ReadonlyArray<A>) => {
  const found = allowed.find((one) => one === sent.get(name))
  return found === undefined
    ? Effect.fail(validationFailed(`${name} is not included in the list`))
    : Effect.succeed(found)
}

/** Returns the time zones that a member can choose; one that is stored by another name of it is among them. */
const timeZones = (stored: string | null): ReadonlyArray<readonly [value: string, label: string]> =>
  ["", ...new Set([...(stored === null ? [] : [stored]), ...Intl.supportedValuesOf("timeZone")])]
    .map((zone) => [zone, zone === "" ? "UTC" : zone.replaceAll("_", " ")])

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const catalogs = yield* Catalogs
  const page = yield* SettingPages.make
  const settings = yield* Settings
  const web = yield* WebSettingsWriter

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say }, words } = visit.reader
    const stored = yield* settings.of(visit.viewer)
    const { homeReblogs, homeReplies, scheme } = visit.session.web
    const chosen = filled.all("languages", stored.chosenLanguages)
    const choices = languageChoices(words)
    return form(
      visit,
      html`<h2>${say("Appearance")}</h2>
${
        choice("scheme", say("Colours"), filled.text("scheme", scheme), [
          ["auto", say("Same as the browser")],
          ["light", say("Light")],
          ["dark", say("Dark")]
        ])
      }
${
        choice("locale", say("Language of pages and emails"), filled.text("locale", visit.session.locale ?? ""), [
          ["", say("Same as the browser")],
          ...[...catalogs.keys()].map((tag) => [tag, ownName(tag)] as const)
        ])
      }
${
        choice(
          "time_zone",
          say("Time zone"),
          filled.text("time_zone", stored.timeZone ?? ""),
          timeZones(stored.timeZone),
          say("For scheduled posts, and for days in searches.")
        )
      }
<h2>${say("Posts")}</h2>
${
        choice("media", say("Media"), filled.text("media", stored.expandMedia), [
          ["default", say("Hide sensitive media")],
          ["show_all", say("Show all media")],
          ["hide_all", say("Hide all media")]
        ])
      }
${
        checkBox(
          "spoilers",
          say("Always open posts with content warnings"),
          filled.isOn("spoilers", stored.expandSpoilers)
        )
      }
${checkBox("autoplay", say("Play animated pictures"), filled.isOn("autoplay", stored.autoplayGifs))}
<h2>${say("Home")}</h2>
${checkBox("home_replies", say("Show replies in Home"), filled.isOn("home_replies", homeReplies))}
${checkBox("home_reblogs", say("Show boosts in Home"), filled.isOn("home_reblogs", homeReblogs))}
<h2>${say("Languages of public timelines")}</h2>
<p class="soft">${say("If you choose none, you see posts in all languages.")}</p>
<details${chosen.length > 0 ? html` open` : ""}><summary>${say("Choose languages")}</summary>${
        checkBoxes("languages", say("Languages"), chosen, choices)
      }</details>`,
      { act: "save", button: say("Save changes") }
    )
  })

  const save = Effect.fnUntraced(function*({ viewer }: MemberVisit, sent: URLSearchParams) {
    const scheme = yield* oneOf("scheme", sent, ColorScheme.literals)
    const locale = yield* oneOf("locale", sent, ["", ...catalogs.keys()])
    const expandMedia = yield* oneOf("media", sent, ExpandMedia.literals)
    yield* actors.tell(viewer, {
      _tag: "UpdateProfile",
      change: {
        locale: locale === "" ? null : locale,
        timeZone: sent.get("time_zone") || null,
        expandMedia,
        expandSpoilers: sent.has("spoilers"),
        autoplayGifs: sent.has("autoplay"),
        chosenLanguages: sent.getAll("languages")
      }
    })
    yield* web.change(viewer, {
      scheme,
      homeReplies: sent.has("home_replies"),
      homeReblogs: sent.has("home_reblogs")
    })
  })

  return page({
    path: "/settings/reading",
    title: ({ say }) => say("Reading and appearance"),
    show,
    acts: { save }
  })
})

/** Colours, languages, and how posts are shown to the member. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(WebSettingsWriter.layer))
