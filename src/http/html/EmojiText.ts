import type { Emoji } from "../../services/instance/Emoji.ts"
import { type Html, html, raw } from "./Html.ts"

/** Custom emoji as an image in text; `staticUrl` does not move. */
type Picture = Pick<Emoji, "shortcode" | "staticUrl">

const picture = ({ shortcode, staticUrl }: Picture) =>
  String(html`<img class="emoji" src="${staticUrl}" alt=":${shortcode}:" title=":${shortcode}:" loading="lazy">`)

/** Replaces shortcodes in the texts of a piece of HTML by their emoji; tags are left as they are. */
export const withEmojis = (piece: Html, emojis: ReadonlyArray<Picture>): Html => {
  if (emojis.length === 0) return piece
  const found = new Map(emojis.map((emoji) => [emoji.shortcode, emoji]))
  return raw(
    String(piece).replace(/<[^<>]*>|:([a-zA-Z0-9_]{2,128}):/g, (all, shortcode?: string) => {
      const emoji = found.get(shortcode ?? "")
      return emoji === undefined ? all : picture(emoji)
    })
  )
}
