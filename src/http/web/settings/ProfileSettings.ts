import { Effect, Layer } from "effect"
import {
  displayNameCharactersMax,
  pictureDescriptionCharactersMax,
  profileFieldCharactersMax,
  profileFieldsMax
} from "../../../services/instance/ContentLimits.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { type Html, html } from "../../html/Html.ts"
import { ticketOf } from "../../html/UploadedFile.ts"
import { ProfileViews } from "../../render/ProfileViews.ts"
import { focusOf } from "../../v1/MediaRoutes.ts"
import { ProfileChanges } from "../../v1/ProfileChanges.ts"
import { read } from "../../wire/Keys.ts"
import { focalPoint } from "../shell/FocalPoint.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, form, textArea, textField } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const fieldNumbers = Array.from({ length: profileFieldsMax }, (_, at) => at)
const fieldNames = (at: number) => [`field_name_${at}`, `field_value_${at}`] as const

interface ShownField {
  readonly name: string
  readonly value: string
  readonly verifiedAt: string | null
}

const fieldRow = ({ reader: { words: { day, say } } }: MemberVisit, filled: Filled, at: number, field?: ShownField) => {
  const [name, value] = fieldNames(at)
  const number = at + 1
  const verified = field?.verifiedAt ?? null
  return html`<div class="two">${
    textField(name, say("Label {number}", { number }), filled.text(name, field?.name ?? ""), {
      max: profileFieldCharactersMax
    })
  }${
    textField(value, say("Content {number}", { number }), filled.text(value, field?.value ?? ""), {
      max: profileFieldCharactersMax
    })
  }</div>${
    verified === null
      ? ""
      : html`<p class="soft">✓ ${say("This link was verified on {day}.", { day: day(new Date(verified)) })}</p>`
  }`
}

const make = Effect.gen(function*() {
  const changes = yield* ProfileChanges
  const config = yield* ServerConfig
  const page = yield* SettingPages.make
  const views = yield* ProfileViews

  const picture = (
    visit: MemberVisit,
    filled: Filled,
    kind: "avatar" | "header",
    stored: { readonly url: string | null; readonly description: string }
  ): Html => {
    const { say } = visit.reader.words
    const focus = `${kind}_focus`
    const [part, hint] = kind === "avatar"
      ? [say("Part of a new avatar to keep"), say("Drag the square to the part that you want to show.")]
      : [say("Part of a new header picture to keep"), say("Drag the rectangle to the part that you want to show.")]
    return html`<div>${stored.url === null ? "" : html`<img src="${stored.url}" alt="${stored.description}">`}<label>${
      kind === "avatar" ? say("Avatar") : say("Header picture")
    }<span class="hint">${say("PNG, GIF, JPEG or WebP, up to 8 MB.")}</span>
<input type="file" name="${kind}" accept="image/png,image/gif,image/jpeg,image/webp"></label>
${focalPoint(visit, focus, part, filled.text(focus, ""))}
<div class="crop-place" data-hint="${hint}"></div>
${
      textArea(
        `${kind}_description`,
        say("Description for people who cannot see it"),
        filled.text(`${kind}_description`, stored.description),
        { rows: 2, max: pictureDescriptionCharactersMax }
      )
    }</div>`
  }

  const removal = (visit: MemberVisit, act: string, button: string, isShown: boolean) =>
    isShown ? form(visit, html``, { act, button, danger: true }) : ""

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { pieces, say } } = visit.reader
    const profile = read(yield* views.of(visit.viewer))
    const profileUrl = Urls.profile(config, visit.session.username)
    return html`${
      form(
        visit,
        html`${
          textField("display_name", say("Display name"), filled.text("display_name", profile.displayName), {
            max: displayNameCharactersMax
          })
        }
${
          textArea("note", say("About you"), filled.text("note", profile.note), {
            rows: 5,
            hint: say("Hashtags, mentions and links work here.")
          })
        }
<div class="pictures">${
          picture(visit, filled, "avatar", { url: profile.avatar, description: profile.avatarDescription })
        }${picture(visit, filled, "header", { url: profile.header, description: profile.headerDescription })}</div>
<h2>${say("Fields")}</h2>
<p class="soft">${say("Your homepage, pronouns, age: anything you like.")}</p>
${fieldNumbers.map((at) => fieldRow(visit, filled, at, profile.fields[at]))}
<details><summary>${say("How to verify a link")}</summary>
<p>${
          pieces(
            "Put a link to your profile on the page that a field links to. The link needs the attribute {attribute}. For example:",
            {
              attribute: html`<code>${"rel=\"me\""}</code>`
            }
          )
        }</p>
<p><code>${String(html`<a rel="me" href="${profileUrl}">${visit.session.username}</a>`)}</code></p>
<p>${say("Save your profile afterwards: the server then checks the page.")}</p></details>
<h2>${say("Your account")}</h2>
${
          checkBox(
            "locked",
            say("Approve followers"),
            filled.isOn("locked", profile.locked),
            say("You decide on each follow request.")
          )
        }
${
          checkBox(
            "bot",
            say("This is an automated account"),
            filled.isOn("bot", profile.bot),
            say("Tells others that most posts here are made by a program.")
          )
        }
${checkBox("show_media", say("Show a tab with media on the profile"), filled.isOn("show_media", profile.showMedia))}
${
          checkBox(
            "show_media_replies",
            say("Include replies in the media tab"),
            filled.isOn("show_media_replies", profile.showMediaReplies)
          )
        }
${
          checkBox(
            "show_featured",
            say("Show a tab with featured hashtags and accounts on the profile"),
            filled.isOn("show_featured", profile.showFeatured)
          )
        }
${
          textArea(
            "attribution_domains",
            say("Websites that may credit you as the author"),
            filled.text("attribution_domains", profile.attributionDomains.join("\n")),
            { rows: 3, hint: say("One domain per line.") }
          )
        }`,
        { act: "save", button: say("Save changes"), files: true }
      )
    }
${removal(visit, "removeAvatar", say("Remove avatar"), profile.avatar !== null)}
${removal(visit, "removeHeader", say("Remove header picture"), profile.header !== null)}`
  })

  const upload = Effect.fnUntraced(function*(name: string) {
    const ticket = yield* ticketOf(name)
    return ticket === undefined ? {} : { [name]: { ticket } }
  })

  const save = Effect.fnUntraced(function*({ viewer }: MemberVisit, sent: URLSearchParams) {
    const text = (name: string) => (sent.get(name) ?? "").replaceAll("\r\n", "\n")
    yield* changes.apply(viewer, {
      ...(yield* upload("avatar")),
      ...(yield* upload("header")),
      displayName: text("display_name"),
      note: text("note"),
      avatarDescription: text("avatar_description"),
      headerDescription: text("header_description"),
      fieldsAttributes: fieldNumbers.map((at) => {
        const [name, value] = fieldNames(at)
        return { name: text(name), value: text(value) }
      }),
      locked: sent.has("locked"),
      bot: sent.has("bot"),
      showMedia: sent.has("show_media"),
      showMediaReplies: sent.has("show_media_replies"),
      showFeatured: sent.has("show_featured"),
      attributionDomains: text("attribution_domains").split(/\s+/).filter((domain) => domain !== "")
    }, { avatar: focusOf(sent.get("avatar_focus")), header: focusOf(sent.get("header_focus")) })
  })

  return page({
    path: "/settings/profile",
    title: ({ say }) => say("Public profile"),
    scripts: ["crop"],
    show,
    acts: {
      save,
      removeAvatar: ({ viewer }) => changes.removePicture(viewer, "avatar"),
      removeHeader: ({ viewer }) => changes.removePicture(viewer, "header")
    }
  })
})

/** Name, text, pictures and fields of the member's profile. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([ProfileChanges.layer, ProfileViews.layer]))
