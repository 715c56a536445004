import { fold } from "../filters/FilterText.ts"
import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { composed, decomposed } from "../text/Normalisation.ts"

/*
 * Tokenises text for search: words, and pairs of letters for scripts without spaces (Chinese, Japanese, Thai, ...),
 * which match any substring. Posts and queries are tokenised alike, independently of the database's locale.
 */

/** A word; `word` is the form to stem. */
interface Word {
  readonly kind: "word"
  readonly word: string
  /** Compared form, without accents. */
  readonly plain: string
}

/** Letters of a script without spaces, each a string. */
interface Letters {
  readonly kind: "letters"
  readonly letters: ReadonlyArray<string>
}

export type SearchPart = Word | Letters

/** Maximum letters of a word; the rest is ignored. */
const wordLettersMax = 64

const unspaced =
  "\\p{Script=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Bopo}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}" +
  "\\p{scx=Java}\\p{scx=Bali}\\p{scx=Talu}\\p{scx=Tale}\\p{scx=Lana}"
const part = new RegExp(
  `\\p{Extended_Pictographic}|[[${unspaced}]&&[\\p{L}\\p{M}\\p{N}]]+|[[\\p{L}\\p{M}\\p{N}]--[${unspaced}]]+`,
  "gv"
)
const withoutSpaces = new RegExp(`^[[${unspaced}]\\p{Extended_Pictographic}]`, "v")

/** Accents of Latin and Greek letters; marks of other scripts make different letters. */
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

/** Removes accents from a folded word, as people often type without them. */
export const withoutAccents = (word: string): string =>
  maybeAccented.test(word)
    ? composed(bounded(
      decomposed(bounded(word.replace(plainLetter, (letter) => undecomposed[letter] ?? letter)))
        .replace(accents, "$1")
    ))
    : word

/** Maximum UTF-16 code units of a folded text: some characters expand to many. */
const foldedUnitsMax = 65_536

/** Returns the parts of a text in order. */
export const searchParts = (text: BoundedText): ReadonlyArray<SearchPart> =>
  Array.from(fold(text).slice(0, foldedUnitsMax).matchAll(part), ([found]): SearchPart => {
    if (withoutSpaces.test(found)) return { kind: "letters", letters: Array.from(found) }
    const whole = found.length > wordLettersMax ? found.slice(0, wordLettersMax).toWellFormed() : found
    return { kind: "word", word: whole, plain: withoutAccents(whole) }
  })

/** A token and its offset from the first one. */
export interface PlacedToken {
  readonly token: string
  readonly offset: number
}

/** Returns a part's index tokens and the number of positions that they take. */
export const tokensOf = (part: SearchPart): { readonly tokens: ReadonlyArray<PlacedToken>; readonly places: number } =>
  part.kind === "word"
    ? { tokens: [{ token: part.plain, offset: 0 }], places: 1 }
    : {
      tokens: part.letters.map((letter, offset) => ({ token: letter + (part.letters[offset + 1] ?? ""), offset })),
      places: part.letters.length
    }

/**
 * Returns the minimal tokens that match these letters: every other pair, and the last one. A single letter has none: it
 * is matched as a prefix of a pair.
 */
export const pairsOf = (letters: ReadonlyArray<string>): ReadonlyArray<PlacedToken> =>
  letters.flatMap((letter, offset) => {
    const next = letters[offset + 1]
    return next !== undefined && (offset % 2 === 0 || offset === letters.length - 2)
      ? [{ token: letter + next, offset }]
      : []
  })
