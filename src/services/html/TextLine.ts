import { bounded } from "../text/BoundedText.ts"
import { plainText } from "./PlainText.ts"

/** Maximum characters of a text that are read, before markup and spaces are removed. */
const readCharactersMax = 8_192

/** Bidirectional control characters (UAX #9): in a title they would reorder the surrounding text. */
const directing = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Returns plain text on one line without invisible characters, truncated to `charactersMax` characters. */
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

/** Like `line`, for HTML. */
export const lineOfHtml = (html: string | undefined, charactersMax: number): string =>
  line(plainText(bounded((html ?? "").slice(0, readCharactersMax))), charactersMax)
