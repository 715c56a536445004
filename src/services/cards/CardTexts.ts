import { plainText } from "../html/PlainText.ts"
import { bounded } from "../text/BoundedText.ts"

/** Characters of the texts of a card; the rest is cut. */
export const titleCharactersMax = 300
export const descriptionCharactersMax = 1_000
export const nameCharactersMax = 200
export const imageDescriptionCharactersMax = 1_500
/** Bytes of an address that a card has or that is asked for one (limits-and-rates.md section 1). */
const cardUrlBytesMax = 2_692

/** Characters of a text that are looked at; it becomes shorter where mark-up and spaces go. */
const readCharactersMax = 8_192

/** Marks that set the direction of text after them (Unicode, 9): a title would reorder what stands beside it. */
const directing = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Plain text on one line, without what cannot be seen, cut to so many characters. */
export const line = (text: string | undefined, charactersMax: number): string => {
  const visible = (text ?? "").slice(0, readCharactersMax).toWellFormed().replace(directing, "").replace(
    /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}]+/gu,
    " "
  )
  // What is made of marks that direct or join others shows nothing.
  if (!/[^\p{Cf}\p{Z}]/u.test(visible)) return ""
  const characters = Array.from(visible.trim())
  return characters.length <= charactersMax
    ? characters.join("")
    : `${characters.slice(0, charactersMax - 1).join("").trimEnd()}…`
}

/** The same of what may be HTML although it should not. */
export const lineOfHtml = (html: string | undefined, charactersMax: number): string =>
  line(plainText(bounded((html ?? "").slice(0, readCharactersMax))), charactersMax)

/** An address of the web, seen from `base`; undefined for whatever else it is. */
export const webUrl = (text: string | undefined, base: string): URL | undefined => {
  if (text === undefined || text.trim() === "" || text.length > cardUrlBytesMax) return undefined
  const url = URL.parse(text.trim(), base)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "") return undefined
  return Buffer.byteLength(url.href) <= cardUrlBytesMax ? url : undefined
}
