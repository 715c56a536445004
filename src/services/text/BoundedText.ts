import { Brand } from "effect"

/**
 * Text from outside within bounds: at most `boundedBytesMax` bytes of UTF-8, and at most `marksInRowMax` marks in a
 * row. Every step over it (normalising, folding, matching, parsing) takes time linear in its length. Functions with
 * such a step take this type, so that the compiler refuses unbounded text.
 */
export type BoundedText = Brand.Branded<string, "BoundedText">
const passed = Brand.nominal<BoundedText>()

/** Maximum bytes of a text that is folded, matched or parsed at once. */
export const boundedBytesMax = 262_144
/**
 * Maximum marks in a row, as in the Stream-Safe Text Format (UAX #15 section 13). Normalisers sort the marks after a
 * letter, in time quadratic in their number.
 */
export const marksInRowMax = 30

/**
 * Matches more than `marksInRowMax` marks in a row. Every non-starter is a mark. Ignorable characters between two marks count as
 * marks, because comparisons ignore them.
 */
const heaped = new RegExp(
  `([\\p{M}\\p{Default_Ignorable_Code_Point}]{${marksInRowMax}})[\\p{M}\\p{Default_Ignorable_Code_Point}]+`,
  "gu"
)
/** There are no marks below U+0300. */
const mayHaveMarks = /[^\0-\u02ff]/

const limitMarks = (text: string): string => mayHaveMarks.test(text) ? text.replace(heaped, "$1") : text

/** Cuts a text to `bytesMax` bytes of UTF-8, at a character boundary. */
const cutToBytes = (text: string, bytesMax: number): string => {
  // A UTF-16 code unit takes up to three bytes.
  if (text.length * 3 <= bytesMax) return text
  if (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax) return text
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytesMax)).read)
}

/** Cuts a text to `bytesMax` bytes, and rows of marks to `marksInRowMax`. */
export const bounded = (text: string, bytesMax = boundedBytesMax): BoundedText =>
  passed(limitMarks(cutToBytes(text, Math.min(bytesMax, boundedBytesMax))))

/** Returns the text if it is within its bounds; undefined if `bounded` would cut it. */
export const ifBounded = (text: string, bytesMax = boundedBytesMax): BoundedText | undefined => {
  const cut = bounded(text, bytesMax)
  return cut.length === text.length ? cut : undefined
}

/** Maximum UTF-16 code units of a text with any number of marks: normalising it takes less than a millisecond. */
export const shortUnitsMax = 288

/** Cuts a text to `shortUnitsMax` and keeps all marks. For secrets, of which nothing may be dropped. */
export const shortText = (text: string): BoundedText => passed(text.slice(0, shortUnitsMax))
