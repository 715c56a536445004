import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { compatible } from "../text/Normalisation.ts"

/*
 * Normalisation of texts and keywords for filters. Both are folded, which removes what people ignore in a word: case,
 * width, invisible characters, and marks that do not form a letter of their own. Then word borders are marked. A
 * keyword matches if it is a substring of the text, whatever it consists of.
 */

/** Marks where a word begins or ends in a prepared text; folded texts never contain it. */
const border = "\u0001"
/** Separates the parts of a text, so that no keyword matches across them. */
const separator = "\u0002"

const ignorable = /\p{Default_Ignorable_Code_Point}/gu
/** Marks that do not compose with the letter before, Arabic and Hebrew vowel signs, and the Arabic tatweel. */
const marks = /[[\p{Mn}&&[\p{Script=Inherited}\p{scx=Arab}\p{scx=Hebr}]]\p{Default_Ignorable_Code_Point}\u0640]/gv
const blanks = /[\s\p{Cc}]+/gu
const ascii = /^[ -~]*$/

/** Folds a text for comparison; any run of white space becomes one space. */
export const fold = (text: BoundedText): string =>
  ascii.test(text)
    ? text.toLowerCase().replace(blanks, " ")
    : compatible(bounded(compatible(bounded(text.replace(ignorable, ""))).toUpperCase().toLowerCase()))
      .replace(marks, "").replaceAll("ς", "σ").replace(blanks, " ")

const word = /[\p{L}\p{M}\p{N}\p{Pc}]/u
/** Scripts without spaces between words: every letter is a word of its own. */
const unspaced =
  /[\p{Script=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Java}\p{scx=Bali}\p{scx=Talu}\p{scx=Tale}\p{scx=Lana}]/u

const mark = /\p{M}/u

const [noWord, inWord, wordByItself, ofLetter] = [1, 2, 3, 4]
const classify = (character: string) =>
  mark.test(character)
    ? ofLetter
    : !word.test(character)
    ? noWord
    : unspaced.test(character)
    ? wordByItself
    : inWord

/** Cached classes of the characters of the first plane; 0 is not cached yet. */
const known = new Uint8Array(0x1_0000)
const classOf = (point: number): number =>
  point > 0xffff
    ? classify(String.fromCodePoint(point))
    : known[point] || (known[point] = classify(String.fromCodePoint(point)))

/** Marks the word borders of a folded text; a combining mark belongs to the letter before it. */
const bordered = (folded: string): string => {
  let marked = ""
  let from = 0
  let before = noWord
  for (let at = 0; at < folded.length;) {
    const point = folded.codePointAt(at) ?? 0
    const kind = classOf(point)
    const continuesWord = kind === ofLetter ? before !== noWord : kind === before && kind !== wordByItself
    if (!continuesWord) {
      marked += folded.slice(from, at) + border
      from = at
      before = kind === ofLetter ? inWord : kind
    }
    at += point > 0xffff ? 2 : 1
  }
  return marked + folded.slice(from) + (before === noWord ? "" : border)
}

/** Prepares the parts of a text for keyword search. */
export const prepareText = (parts: ReadonlyArray<BoundedText>): string =>
  parts.map((part) => bordered(fold(part))).join(separator)

/**
 * Prepares a keyword for search; a whole word has a border where it begins or ends with a letter. Returns "" for a
 * keyword that cannot match anything.
 */
export const prepareKeyword = (keyword: BoundedText, wholeWord: boolean): string => {
  const marked = bordered(fold(keyword))
  return wholeWord
    ? marked
    : marked.slice(marked.startsWith(border) ? 1 : 0, marked.endsWith(border) ? -1 : undefined)
}
