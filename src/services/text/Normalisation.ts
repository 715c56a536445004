import type { BoundedText } from "./BoundedText.ts"

/*
 * Unicode's normal forms (UAX #15). No other file normalises a text: each takes a time that grows with the square of the marks in
 * a row, which a bounded text has few of.
 */

/** Canonical composition: letters and their marks become one character where there is one. */
export const composed = (text: BoundedText): string => text.normalize("NFC")

/** Canonical decomposition: each letter stands by itself, and its marks after it. */
export const decomposed = (text: BoundedText): string => text.normalize("NFD")

/** Composition where forms of the same letter (wide, styled, in a circle) are that letter. */
export const compatible = (text: BoundedText): string => text.normalize("NFKC")

/** Decomposition of the same kind. */
export const compatibleDecomposed = (text: BoundedText): string => text.normalize("NFKD")
