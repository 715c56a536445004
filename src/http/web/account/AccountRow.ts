import { lineOfHtml } from "../../../services/html/TextLine.ts"
import { withEmojis } from "../../html/EmojiText.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import { nameOf, plainName, profilePath, type ShownAccount } from "../status/StatusText.ts"
import { followForm, type ShownRelationship } from "./FollowForm.ts"

/** Maximum characters of a profile's text in a row. */
const noteCharactersMax = 200

/** A row's further content. */
interface RowOptions {
  /** Relationship of the viewer to the account; without it the row has no button to follow. */
  readonly relationship?: ShownRelationship | undefined
  /** Content before the picture: a check box. */
  readonly before?: Html
  /** Content below the profile's text. */
  readonly below?: Html
  /** Forms beside or in place of the button to follow. */
  readonly acts?: Html
}

const noteOf = ({ emojis, note }: ShownAccount): Html | "" => {
  const text = lineOfHtml(note, noteCharactersMax)
  return text === "" ? "" : html`<p class="bio soft" dir="auto">${withEmojis(html`${text}`, emojis)}</p>`
}

/** Renders an account in a list: picture, name, handle, first lines of its profile, and acts. */
export const accountRow = (visit: Visit, account: ShownAccount, options: RowOptions = {}): Html => {
  const { way, words: { say } } = visit.reader
  const to = way(profilePath(account.acct))
  return html`<article id="account-${account.id}" class="person" aria-label="${plainName(account)}, @${account.acct}">${
    options.before ?? ""
  }<a href="${to}" tabindex="-1" aria-hidden="true"><img src="${account.avatarStatic}" alt="" width="46" height="46" loading="lazy"></a><div><p><a class="by" href="${to}"><strong dir="auto">${
    nameOf(account)
  }</strong> <span class="soft"><bdi>@${account.acct}</bdi></span></a>${
    options.relationship?.followedBy === true ? html` <span class="mark">${say("Follows you")}</span>` : ""
  }</p>${noteOf(account)}${options.below ?? ""}</div><div class="person-acts">${options.acts ?? ""}${
    followForm(visit, account, options.relationship)
  }</div></article>`
}
