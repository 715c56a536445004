import { withEmojis } from "../../html/EmojiText.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "../shell/Visit.ts"
import { lineOfStatus, type ShownStatus, statusPath } from "./StatusText.ts"

/** Maximum characters of an excerpt. */
const excerptCharactersMax = 240

/** Renders the first lines of a status without markup: its content warning, its text, or the number of its files. */
export const excerptOf = (
  visit: Visit,
  status: Pick<ShownStatus, "content" | "emojis" | "mediaAttachments" | "spoilerText">
): Html => {
  const { emojis, mediaAttachments } = status
  const text = lineOfStatus(status, excerptCharactersMax)
  const { say } = visit.reader.words
  return withEmojis(
    html`<span class="excerpt" dir="auto">${
      text || say("{count, plural, one {# file} other {# files}}", { count: mediaAttachments.length })
    }</span>`,
    emojis
  )
}

/** Renders the excerpt as a link to the status. */
export const excerptLink = (visit: Visit, status: ShownStatus): Html =>
  html`<a class="excerpt-link" href="${visit.reader.way(statusPath(status))}">${excerptOf(visit, status)}</a>`
