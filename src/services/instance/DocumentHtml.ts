import { Effect } from "effect"
import { validationFailed } from "../Errors.ts"
import { sanitise } from "../html/Sanitise.ts"
import { momentOf } from "../Moments.ts"

/** Bytes of a document as it is stored. */
const documentBytesMax = 200_000

/** What makes a text HTML: elements that documents are made of. */
const markup = /<\/?(?:p|h[1-6]|[uo]l|li|br|a|b|i|em|strong|blockquote|pre|code|div|section|article|span)\b[^>]*>/i

/** A document as it is kept: HTML of ours, or of plain text its paragraphs, which empty lines part. */
export const documentOf = Effect.fnUntraced(function*(text: string) {
  const written = text.replaceAll("\0", "").trim()
  const html = sanitise(
    markup.test(written)
      ? written
      : written.split(/\n\s*\n/).filter((part) => part.trim() !== "").map((part) =>
        `<p>${part.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>")}</p>`
      ).join("")
  )
  return new TextEncoder().encode(html).length > documentBytesMax
    ? yield* validationFailed(`The document is too long (maximum is ${documentBytesMax} bytes)`)
    : html
})

/** Whether a text is a day such as 2026-01-31. */
export const isDay = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && new Date(momentOf(text) ?? 0).toISOString().startsWith(text)
