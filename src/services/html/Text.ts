import { tokens } from "./Tokens.ts"

/** Length of a status, its content warning included, and of a biography, in grapheme clusters. */
export const statusCharactersMax = 500
export const noteCharactersMax = 500
/** What every URL counts, however long it is, in grapheme clusters. */
export const urlCharactersReserved = 23
/**
 * A text beyond this is refused unread, in UTF-16 code units: 20 URLs of the longest kind and 500 clusters of many code
 * points fit, an attempt to keep the server busy does not.
 */
export const sourceUnitsMax = 65_536

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" })

/** Grapheme clusters of `text`, counted up to one more than `max`. */
export const graphemes = (text: string, max = Number.MAX_SAFE_INTEGER): number => {
  let count = 0
  for (const _ of segmenter.segment(text)) {
    if (++count > max) break
  }
  return count
}

/**
 * What counts of a text: a URL as 23 characters, a mention as its local part, everything else as it stands
 * (Mastodon's StatusLengthValidator).
 */
const countable = (source: string): string =>
  tokens(source).map((token) => {
    switch (token.kind) {
      case "url":
        return "x".repeat(urlCharactersReserved)
      case "mention":
        return `@${token.username}`
      default:
        return token.text
    }
  }).join("")

/** Whether a text with its content warning (which counts as it stands) is longer than `max` grapheme clusters. */
export const tooLong = (source: string, spoilerText = "", max = statusCharactersMax): boolean =>
  source.length + spoilerText.length > sourceUnitsMax || graphemes(spoilerText + countable(source), max) > max
