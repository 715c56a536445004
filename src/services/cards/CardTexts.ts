import { plainText } from "../html/PlainText.ts"
import { bounded } from "../text/BoundedText.ts"

/** Maximum characters of a card's texts; the rest is cut. */
export const titleCharactersMax = 300
export const descriptionCharactersMax = 1_000
export const nameCharactersMax = 200
export const imageDescriptionCharactersMax = 1_500
/** Maximum bytes of a URL in a card, or of one that is fetched for it (limits-and-rates.md section 1). */
const cardUrlBytesMax = 2_692

/** Maximum characters of a text that are read, before markup and spaces are removed. */
const readCharactersMax = 8_192

/** Bidirectional control characters (Unicode, 9): in a title they would reorder the surrounding text. */
const directing = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Returns plain text on one line without invisible characters, truncated to so many characters. */
export const line = (text: string | undefined, charactersMax: number): string => {
  const visible = (text ?? "").slice(0, readCharactersMax).toWellFormed().replace(directing, "").replace(
    /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu,
    " "
  )
  // Text of only format characters and spaces is invisible.
  if (!/[^\p{Cf}\p{Z}]/u.test(visible)) return ""
  const characters = Array.from(visible.trim())
  return characters.length <= charactersMax
    ? characters.join("")
    : `${characters.slice(0, charactersMax - 1).join("").trimEnd()}…`
}

/** Like `line`, for text that may contain HTML although it should not. */
export const lineOfHtml = (html: string | undefined, charactersMax: number): string =>
  line(plainText(bounded((html ?? "").slice(0, readCharactersMax))), charactersMax)

/** Returns a web URL, resolved against `base`; undefined for any other text. */
export const webUrl = (text: string | undefined, base: string): URL | undefined => {
  if (text === undefined || text.trim() === "" || text.length > cardUrlBytesMax) return undefined
  const url = URL.parse(text.trim(), base)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "") return undefined
  return Buffer.byteLength(url.href) <= cardUrlBytesMax ? url : undefined
}
