import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { compatible, decomposed } from "../text/Normalisation.ts"

/**
 * Returns the name under which a hashtag is stored and looked up: NFKC, lower case, Latin letters without accents; of
 * the rest only letters, marks, digits, `_`, `·`, `・` and the zero-width non-joiner (Mastodon's HashtagNormalizer).
 */
export const normalise = (name: BoundedText): string =>
  compatible(name).toLowerCase().replace(latin, fold).replace(unwanted, "")

/** Latin-1 and Latin Extended-A; marks of other scripts change the word and are kept. */
const latin = /[\u00c0-\u017e]/g
const unwanted = /\p{Variation_Selector}|[^\p{Alphabetic}\p{M}\p{Nd}_\u00b7\u30fb\u200c]/gu

/** Letters without a Unicode decomposition. */
const undecomposed: Readonly<Record<string, string>> = {
  ð: "d",
  đ: "d",
  ħ: "h",
  ı: "i",
  ĸ: "k",
  ł: "l",
  ŋ: "n",
  ø: "o",
  ŧ: "t"
}

const fold = (letter: string) => undecomposed[letter] ?? decomposed(bounded(letter)).charAt(0)
