import type { Emoji } from "../../services/instance/Emoji.ts"
import { type Html, html, raw } from "../html/Html.ts"

/** Finds the custom emoji whose shortcodes are in texts. */
export type Finder = (...texts: ReadonlyArray<string>) => ReadonlyArray<Emoji>

const picture = ({ shortcode, staticUrl }: Emoji) =>
  String(html`<img class="emoji" src="${staticUrl}" alt=":${shortcode}:" title=":${shortcode}:" loading="lazy">`)

/** Replaces shortcodes in the texts of a piece of HTML by their emoji; tags are left as they are. */
export const withEmojis = (piece: Html, find: Finder): Html => {
  const markup = String(piece)
  const found = new Map(find(markup).map((emoji) => [emoji.shortcode, picture(emoji)]))
  if (found.size === 0) return piece
  return raw(
    markup.replace(/<[^<>]*>|:([a-zA-Z0-9_]{2,128}):/g, (all, shortcode?: string) => found.get(shortcode ?? "") ?? all)
  )
}
