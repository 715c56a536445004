import { Effect } from "effect"
import { hasMoreMarks, marksMax, sanitise } from "../html/Sanitise.ts"
import { validationFailed } from "../runtime/Errors.ts"
import { momentOf } from "../runtime/Moments.ts"
import { ifBounded } from "../text/BoundedText.ts"

/** Maximum bytes of a stored document. */
const documentBytesMax = 200_000

/** Start of an HTML element that documents use. A text with one is treated as HTML. */
const markup = /<\/?(?:p|h[1-6]|[uo]l|li|br|a|b|i|em|strong|blockquote|pre|code|div|section|article|span)[\s/>]/i

const tooLong = validationFailed(`The document is too long (maximum is ${documentBytesMax} bytes)`)

/** Converts plain text to paragraphs, separated by blank lines. */
const paragraphsOf = (text: string): string =>
  text.split(/\n\s*\n/).filter((part) => part.trim() !== "").map((part) =>
    `<p>${part.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>")}</p>`
  ).join("")

/**
 * Converts a document to sanitised HTML, from HTML or plain text. Refuses one that is too long or has too many
 * elements.
 */
export const documentOf = Effect.fnUntraced(function*(text: string) {
  if (Buffer.byteLength(text) > documentBytesMax) return yield* tooLong
  const written = text.replaceAll("\0", "").trim()
  const source = ifBounded(markup.test(written) ? written : paragraphsOf(written))
  if (source === undefined) return yield* tooLong
  if (hasMoreMarks(source)) return yield* validationFailed(`Elements are too many (maximum is ${marksMax})`)
  const html = sanitise(source)
  return Buffer.byteLength(html) > documentBytesMax ? yield* tooLong : html
})

/** Returns true for a date such as 2026-01-31. */
export const isDay = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && new Date(momentOf(text) ?? 0).toISOString().startsWith(text)
