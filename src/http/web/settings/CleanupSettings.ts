import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { cleanupAges, type PostCleanup } from "../../../services/statuses/PostCleanup.ts"
import { PostCleanups } from "../../../services/statuses/PostCleanups.ts"
import { html } from "../../html/Html.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, choice, form, textField } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

/** Parses a count; blank means none, and anything that is not a count is refused later. */
const countOf = (text: string | null): number | null => {
  const given = text?.trim() ?? ""
  return given === "" ? null : /^[0-9]{1,7}$/.test(given) ? Number(given) : 0
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const cleanups = yield* PostCleanups
  const page = yield* SettingPages.make

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const stored = yield* cleanups.of(visit.viewer)
    const flags: ReadonlyArray<readonly [name: keyof PostCleanup & `keep${string}`, label: string]> = [
      ["keepPinned", say("Keep pinned posts")],
      ["keepDirect", say("Keep private mentions")],
      ["keepOwnFavourites", say("Keep posts that I favourited")],
      ["keepOwnBookmarks", say("Keep posts that I bookmarked")],
      ["keepPolls", say("Keep polls")],
      ["keepMedia", say("Keep posts with media")]
    ]
    return form(
      visit,
      html`<p>${say("The server deletes your old posts, a few each minute. Deleted posts cannot be restored.")}</p>
${checkBox("enabled", say("Delete old posts automatically"), filled.isOn("enabled", stored.enabled))}
${
        choice(
          "min_age",
          say("Delete posts older than"),
          filled.text("min_age", String(stored.minAgeDays)),
          cleanupAges.map((days) =>
            [String(days), say("{days, plural, one {# day} other {# days}}", { days })] as const
          )
        )
      }
<h2>${say("Exceptions")}</h2>
${flags.map(([name, label]) => checkBox(name, label, filled.isOn(name, stored[name])))}
<div class="two">${
        textField(
          "min_favourites",
          say("Keep posts with at least this many favourites"),
          filled.text("min_favourites", String(stored.minFavourites ?? "")),
          { type: "number" }
        )
      }${
        textField(
          "min_reblogs",
          say("Keep posts with at least this many boosts"),
          filled.text("min_reblogs", String(stored.minReblogs ?? "")),
          { type: "number" }
        )
      }</div>`,
      { act: "save", button: say("Save changes") }
    )
  })

  const save = ({ viewer }: MemberVisit, sent: URLSearchParams) =>
    actors.tell(viewer, {
      _tag: "SetPostCleanup",
      policy: {
        enabled: sent.has("enabled"),
        minAgeDays: Number.parseInt(sent.get("min_age") ?? "", 10) || 0,
        keepDirect: sent.has("keepDirect"),
        keepPinned: sent.has("keepPinned"),
        keepPolls: sent.has("keepPolls"),
        keepMedia: sent.has("keepMedia"),
        keepOwnFavourites: sent.has("keepOwnFavourites"),
        keepOwnBookmarks: sent.has("keepOwnBookmarks"),
        minFavourites: countOf(sent.get("min_favourites")),
        minReblogs: countOf(sent.get("min_reblogs"))
      }
    }).pipe(Effect.asVoid)

  return page({
    path: "/settings/cleanup",
    title: ({ say }) => say("Automated post deletion"),
    show,
    acts: { save }
  })
})

/** Automated deletion of the member's old posts. */
export const layer = Layer.unwrap(make)
