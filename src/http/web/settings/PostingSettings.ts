import { Effect, Layer } from "effect"
import { Settings } from "../../../services/identity/Settings.ts"
import { WebSettingsWriter } from "../../../services/identity/WebSettings.ts"
import { html } from "../../html/Html.ts"
import { ProfileChanges } from "../../v1/ProfileChanges.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, choice, form } from "./FormFields.ts"
import { languageChoices } from "./LanguageChoices.ts"
import * as SettingPages from "./SettingPages.ts"

const make = Effect.gen(function*() {
  const changes = yield* ProfileChanges
  const page = yield* SettingPages.make
  const settings = yield* Settings
  const web = yield* WebSettingsWriter

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say }, words } = visit.reader
    const stored = yield* settings.of(visit.viewer)
    return form(
      visit,
      html`${
        choice("visibility", say("Visibility of new posts"), filled.text("visibility", stored.visibility), [
          ["public", say("Public")],
          ["unlisted", say("Quiet public")],
          ["private", say("Followers only")]
        ])
      }
${
        choice("quote_policy", say("Who may quote new posts"), filled.text("quote_policy", stored.quotePolicy), [
          ["public", say("Everyone")],
          ["followers", say("Followers only")],
          ["nobody", say("Only you")]
        ], say("Followers-only posts can never be quoted by others."))
      }
${
        choice("language", say("Language of new posts"), filled.text("language", stored.language ?? ""), [
          ["", say("Language of the app or browser")],
          ...languageChoices(words)
        ])
      }
${
        checkBox(
          "sensitive",
          say("Always mark media as sensitive"),
          filled.isOn("sensitive", stored.sensitive),
          say("Others see your media after one click.")
        )
      }
${
        checkBox(
          "asks_for_descriptions",
          say("Ask me about files without a description"),
          filled.isOn("asks_for_descriptions", visit.session.web.asksForDescriptions)
        )
      }`,
      { act: "save", button: say("Save changes") }
    )
  })

  const save = ({ viewer }: MemberVisit, sent: URLSearchParams) =>
    Effect.andThen(
      changes.apply(viewer, {
        source: {
          privacy: sent.get("visibility"),
          quotePolicy: sent.get("quote_policy"),
          language: sent.get("language"),
          sensitive: sent.has("sensitive")
        }
      }),
      web.change(viewer, { asksForDescriptions: sent.has("asks_for_descriptions") })
    )

  return page({ path: "/settings/posting", title: ({ say }) => say("Posting"), show, acts: { save } })
})

/** Defaults of the member's new posts. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([ProfileChanges.layer, WebSettingsWriter.layer]))
