import type { BoundedText } from "./BoundedText.ts"

/*
 * Unicode normal forms (UAX #15). All normalisation is here, for bounded texts only: its time is quadratic in the marks
 * in a row.
 */

/** Canonical composition (NFC): letters and their marks become one character if it exists. */
export const composed = (text: BoundedText): string => text.normalize("NFC")

/** Canonical decomposition (NFD): letters are followed by their marks. */
export const decomposed = (text: BoundedText): string => text.normalize("NFD")

/** Compatibility composition (NFKC): variants of a letter (wide, styled, circled) become that letter. */
export const compatible = (text: BoundedText): string => text.normalize("NFKC")

/** Compatibility decomposition (NFKD). */
export const compatibleDecomposed = (text: BoundedText): string => text.normalize("NFKD")
