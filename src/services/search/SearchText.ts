import { fold } from "../filters/FilterText.ts"
import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { composed, decomposed } from "../text/Normalisation.ts"

/*
 * What a text is for searches: words, and where words stand side by side without a space (Chinese, Japanese, Thai, ...), pairs of
 * letters, by which any part of a text is found. Posts and queries are cut in the same way, and none of it depends on the
 * database's locale.
 */

/** A word; `whole` is what it is stemmed from. */
interface Word {
  readonly kind: "word"
  readonly whole: string
  /** Without accents, as it is compared. */
  readonly plain: string
}

/** Letters of a script without spaces, each a string. */
interface Letters {
  readonly kind: "letters"
  readonly letters: ReadonlyArray<string>
}

export type SearchPart = Word | Letters

/** Letters of a word that are heeded. */
const wordLettersMax = 64

const unspaced =
  "\\p{Script=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}" +
  "\\p{scx=Java}\\p{scx=Bali}\\p{scx=Talu}\\p{scx=Tale}\\p{scx=Lana}"
const part = new RegExp(
  `\\p{Extended_Pictographic}|[[${unspaced}]&&[\\p{L}\\p{M}\\p{N}]]+|[[\\p{L}\\p{M}\\p{N}]--[${unspaced}]]+`,
  "gv"
)
const withoutSpaces = new RegExp(`^[[${unspaced}]\\p{Extended_Pictographic}]`, "v")

/** Marks that Latin and Greek letters carry; those of other scripts make another letter. */
const accents = /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu
const maybeAccented = /[^\0-\x7f]/
const undecomposed: Readonly<Record<string, string>> = {
  æ: "ae",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ø: "o",
  œ: "oe",
  þ: "th",
  ё: "е"
}
const plainLetter = /[æđðħıłøœþё]/g

/** A folded word without what people leave out when they type in a hurry. */
export const withoutAccents = (word: string): string =>
  maybeAccented.test(word)
    ? composed(bounded(
      decomposed(bounded(word.replace(plainLetter, (letter) => undecomposed[letter] ?? letter)))
        .replace(accents, "$1")
    ))
    : word

/** UTF-16 code units of a folded text that are cut: some characters stand for many. */
const foldedUnitsMax = 65_536

/** The parts of a text in their order. */
export const searchParts = (text: BoundedText): ReadonlyArray<SearchPart> =>
  Array.from(fold(text).slice(0, foldedUnitsMax).matchAll(part), ([found]): SearchPart => {
    if (withoutSpaces.test(found)) return { kind: "letters", letters: Array.from(found) }
    const whole = found.length > wordLettersMax ? found.slice(0, wordLettersMax).toWellFormed() : found
    return { kind: "word", whole, plain: withoutAccents(whole) }
  })

/** A token and where it stands behind the first one. */
export interface PlacedToken {
  readonly token: string
  readonly offset: number
}

/** What stands in the index for a part, and how many places it takes. */
export const tokensOf = (part: SearchPart): { readonly tokens: ReadonlyArray<PlacedToken>; readonly places: number } =>
  part.kind === "word"
    ? { tokens: [{ token: part.plain, offset: 0 }], places: 1 }
    : {
      tokens: part.letters.map((letter, offset) => ({ token: letter + (part.letters[offset + 1] ?? ""), offset })),
      places: part.letters.length
    }

/** The fewest tokens that say the same of letters: every other pair, and the last one. One letter is the beginning of a pair. */
export const pairsOf = (letters: ReadonlyArray<string>): ReadonlyArray<PlacedToken> =>
  letters.flatMap((letter, offset) => {
    const next = letters[offset + 1]
    return next !== undefined && (offset % 2 === 0 || offset === letters.length - 2)
      ? [{ token: letter + next, offset }]
      : []
  })
