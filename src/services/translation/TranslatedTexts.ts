import { escape } from "../html/Compose.ts"
import { plainText } from "../html/PlainText.ts"
import { sanitise } from "../html/Sanitise.ts"
import type { StatusRecord } from "../statuses/Statuses.ts"
import { textFields, textsBy, textsOf, type WrittenTexts } from "../statuses/Written.ts"
import { bounded } from "../text/BoundedText.ts"

/** Returns the translatable texts of a status as HTML, in the order that `translatedStatus` expects. */
export const statusTexts = (status: StatusRecord): ReadonlyArray<string> =>
  [
    status.html,
    ...textsOf(status).map(escape),
    ...(status.poll?.options ?? []).map(escape),
    ...described(status.media).map(({ description }) => escape(description))
  ].map(protectEmoji)

/** A status in another language. */
export interface TranslatedStatus extends WrittenTexts {
  readonly content: string
  readonly options: ReadonlyArray<string>
  readonly media: ReadonlyArray<{ readonly id: string; readonly description: string }>
}

/** Builds the translated status from translated `statusTexts`; sanitises each text for its field. */
export const translatedStatus = (
  { media, poll }: StatusRecord,
  [html = "", ...rest]: ReadonlyArray<string>
): TranslatedStatus => {
  const plainTexts = rest.map((text) => plainText(bounded(restoreEmoji(text))))
  const plain = plainTexts.slice(textFields.length)
  const options = poll?.options.length ?? 0
  return {
    content: sanitise(bounded(restoreEmoji(html))),
    ...textsBy((field) => plainTexts[textFields.indexOf(field)] ?? ""),
    options: plain.slice(0, options),
    media: described(media).map(({ id }, at) => ({ id, description: plain[options + at] ?? "" }))
  }
}

const described = (media: StatusRecord["media"]) =>
  media.flatMap(({ description, id }) => description === null || description === "" ? [] : [{ id, description }])

/** Custom emoji between tags; a service would translate their names. */
const shortcodes = /(?<=^|[^\w:])(:[a-zA-Z0-9_]{2,128}:)(?=$|[^\w:])/g
const protectEmoji = (html: string) =>
  html.replace(
    /<[^<>]*>|[^<]+/g,
    (piece) => piece.startsWith("<") ? piece : piece.replace(shortcodes, "<span translate=\"no\">$1</span>")
  )
const restoreEmoji = (html: string) => html.replace(/<span translate="no">\s*(:[a-zA-Z0-9_]{2,128}:)\s*<\/span>/g, "$1")
