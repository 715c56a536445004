import { Brand } from "effect"

/**
 * Text from outside that has passed its bounds: at most `boundedBytesMax` bytes of UTF-8, and at most `marksInRowMax` marks in
 * a row. Every step over such a text (normalising, folding, matching, parsing) takes time that is linear in its length. Code
 * that does one of these takes this type, so that the compiler refuses a text of any length.
 */
export type BoundedText = Brand.Branded<string, "BoundedText">
const passed = Brand.nominal<BoundedText>()

/** Bytes of the longest text that is folded, matched or parsed at once. */
export const boundedBytesMax = 262_144
/**
 * Marks in a row, as in the Stream-Safe Text Format (UAX #15 section 13). A normaliser sorts the marks after a letter, which takes
 * time that grows with the square of their number.
 */
export const marksInRowMax = 30

/**
 * More marks in a row than that. Every non-starter is a mark. Ignorable characters between two marks count as marks, because
 * comparisons leave them out.
 */
const heaped = new RegExp(
  `([\\p{M}\\p{Default_Ignorable_Code_Point}]{${marksInRowMax}})[\\p{M}\\p{Default_Ignorable_Code_Point}]+`,
  "gu"
)
/** Below U+0300 there are no marks. */
const mayHaveMarks = /[^\0-\u02ff]/

const withoutHeaps = (text: string): string => mayHaveMarks.test(text) ? text.replace(heaped, "$1") : text

/** A text cut to so many bytes of UTF-8, between two characters. */
const cutToBytes = (text: string, bytesMax: number): string => {
  // A UTF-16 code unit takes three bytes at most.
  if (text.length * 3 <= bytesMax) return text
  if (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax) return text
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytesMax)).read)
}

/** Cuts a text to its bounds: what is beyond `bytesMax` bytes goes, and marks beyond `marksInRowMax`. */
export const bounded = (text: string, bytesMax = boundedBytesMax): BoundedText =>
  passed(withoutHeaps(cutToBytes(text, Math.min(bytesMax, boundedBytesMax))))

/** Returns the text where it is within its bounds; undefined where something would have to be cut. */
export const whereBounded = (text: string, bytesMax = boundedBytesMax): BoundedText | undefined => {
  const cut = bounded(text, bytesMax)
  return cut.length === text.length ? cut : undefined
}

/** UTF-16 code units of a text that is short enough for any number of marks: normalising it takes less than a millisecond. */
export const shortUnitsMax = 288

/** A text cut to `shortUnitsMax`, with all its marks. For secrets, of which nothing may be left out. */
export const shortened = (text: string): BoundedText => passed(text.slice(0, shortUnitsMax))
