import { tokens } from "./TextTokens.ts"

/** Length of a status, its content warning included, and of a biography, in grapheme clusters. */
export const statusCharactersMax = 500
export const noteCharactersMax = 500
/** What every URL counts, however long it is, in grapheme clusters. */
export const urlCharactersReserved = 23
/**
 * A text beyond this is refused unread, in UTF-8 bytes. 20 URLs of the longest kind and 500 clusters of many code
 * points fit. An attempt to keep the server busy does not.
 */
export const sourceBytesMax = 65_536

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

/**
 * Bytes that a text of a few characters may take; what a longer one may take for each character; and the most of all.
 */
const [shortTextBytesMax, characterBytesMax, textBytesMax] = [1_280, 8, 40_000]

/**
 * UTF-8 bytes that a text of so many grapheme clusters may take. A cluster may be of any length, so that no limit of
 * characters is one of size; people's own take 1 to 4 bytes, and families and flags of emoji up to 41.
 */
const bytesMaxOf = (characters: number): number =>
  Math.max(shortTextBytesMax, Math.min(characters * characterBytesMax, textBytesMax))

/** Whether a text is longer than `max` grapheme clusters or takes more bytes than those may (`bytesMaxOf`). */
export const exceeds = (text: string, max: number): boolean =>
  Buffer.byteLength(text) > bytesMaxOf(max) || graphemes(text, max) > max

/** The most that one UTF-16 code unit takes in JSON, in bytes: `\u0001`. */
const unitBytesMax = 6

/** UTF-8 bytes of a text as clients get it, escaped as JSON. */
export const bytesTold = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** Whether texts together take more than `bytesMax` as clients get them. */
export const exceedsTold = (texts: ReadonlyArray<string>, bytesMax: number): boolean =>
  texts.reduce((sum, { length }) => sum + length, 0) * unitBytesMax > bytesMax &&
  texts.reduce((sum, text) => sum + bytesTold(text), 0) > bytesMax

/** Whether a text with its content warning (which counts as it stands) is longer than `max` grapheme clusters. */
export const tooLong = (source: string, spoilerText = "", max = statusCharactersMax): boolean =>
  Buffer.byteLength(source) + Buffer.byteLength(spoilerText) > sourceBytesMax ||
  graphemes(spoilerText + countable(source), max) > max
