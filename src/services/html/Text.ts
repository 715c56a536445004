import { tokens } from "./TextTokens.ts"

/** Maximum length of a status with its content warning, and of a biography, in grapheme clusters. */
export const statusCharactersMax = 500
export const noteCharactersMax = 500
/** Length that every URL counts for, in grapheme clusters. */
export const urlCharactersReserved = 23
/**
 * Maximum UTF-8 bytes of a text; a longer one is refused unread. Enough for 20 URLs of maximum length and 500 clusters
 * of many code points, but not for an attempt to keep the server busy.
 */
export const sourceBytesMax = 65_536

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" })

/** Counts the grapheme clusters of `text`, up to one more than `max`. */
export const graphemes = (text: string, max = Number.MAX_SAFE_INTEGER): number => {
  let count = 0
  for (const _ of segmenter.segment(text)) {
    if (++count > max) break
  }
  return count
}

/**
 * Returns the part of a text that counts: a URL as 23 characters, a mention as its local part, everything else
 * unchanged (Mastodon's StatusLengthValidator).
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

/** Returns the number of characters of a post that count against `statusCharactersMax`. */
export const countedCharacters = (source: string, spoilerText = ""): number =>
  graphemes(spoilerText + countable(source))

/** Bytes allowed for any short text, bytes allowed for each character of longer ones, and maximum bytes of all. */
const [shortTextBytesMax, characterBytesMax, textBytesMax] = [1_280, 8, 40_000]

/**
 * Returns the maximum UTF-8 bytes of a text with this number of grapheme clusters. Clusters have no maximum length, so
 * a character limit does not bound the size. Characters of real texts take 1 to 4 bytes; emoji families and flags up to
 * 41.
 */
const bytesMaxOf = (characters: number): number =>
  Math.max(shortTextBytesMax, Math.min(characters * characterBytesMax, textBytesMax))

/** Returns true if a text has more than `max` grapheme clusters, or more bytes than `bytesMaxOf` allows for those. */
export const exceeds = (text: string, max: number): boolean =>
  Buffer.byteLength(text) > bytesMaxOf(max) || graphemes(text, max) > max

/** Maximum bytes of a UTF-16 code unit in JSON: `\u0001`. */
const unitBytesMax = 6

/** Returns the UTF-8 bytes of a text as sent to clients, escaped as JSON. */
export const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** Returns true if the texts together exceed `bytesMax`, as sent to clients. */
export const exceedsJsonBytes = (texts: ReadonlyArray<string>, bytesMax: number): boolean =>
  texts.reduce((sum, { length }) => sum + length, 0) * unitBytesMax > bytesMax &&
  texts.reduce((sum, text) => sum + jsonBytes(text), 0) > bytesMax

/**
 * Returns true if a text with its content warning (counted unchanged) has more than `max` grapheme clusters, or more
 * than `sourceBytesMax` bytes.
 */
export const tooLong = (source: string, spoilerText = "", max = statusCharactersMax): boolean =>
  Buffer.byteLength(source) + Buffer.byteLength(spoilerText) > sourceBytesMax ||
  graphemes(spoilerText + countable(source), max) > max
