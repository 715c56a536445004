import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { compatible } from "../text/Normalisation.ts"

/*
 * How texts and keywords are compared: the rule, once. Both are folded, which leaves out what people do not mean when they
 * write a word (case, width, invisible characters, marks that make no letter of their own), and get the borders of their
 * words marked. Then a keyword is found where it stands as a part of the text, whatever it is made of.
 */

/** Stands in a prepared text where a word begins or ends; a folded text has no such character. */
const border = "\u0001"
/** Stands between the parts of a text, so that no keyword is found across them. */
const separator = "\u0002"

const ignorable = /\p{Default_Ignorable_Code_Point}/gu
/** Marks beyond those that make a letter with the one before, vowel signs of Arabic and Hebrew, and what lengthens Arabic. */
const marks = /[[\p{Mn}&&[\p{Script=Inherited}\p{scx=Arab}\p{scx=Hebr}]]\p{Default_Ignorable_Code_Point}\u0640]/gv
const blanks = /[\s\p{Cc}]+/gu
const ascii = /^[ -~]*$/

/** A text as it is compared. Of what is white any number is one space. */
export const fold = (text: BoundedText): string =>
  ascii.test(text)
    ? text.toLowerCase().replace(blanks, " ")
    : compatible(bounded(compatible(bounded(text.replace(ignorable, ""))).toUpperCase().toLowerCase()))
      .replace(marks, "").replaceAll("ς", "σ").replace(blanks, " ")

const word = /[\p{L}\p{M}\p{N}\p{Pc}]/u
/** Scripts in which words stand side by side without a space: every letter is a border by itself. */
const unspaced =
  /[\p{Script=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Java}\p{scx=Bali}\p{scx=Talu}\p{scx=Tale}\p{scx=Lana}]/u

const mark = /\p{M}/u

const [outside, inWord, wordByItself, ofLetter] = [1, 2, 3, 4]
const classify = (character: string) =>
  mark.test(character)
    ? ofLetter
    : !word.test(character)
    ? outside
    : unspaced.test(character)
    ? wordByItself
    : inWord

/** What characters of the first plane are, as far as anybody asked; 0 is not known yet. */
const known = new Uint8Array(0x1_0000)
const classOf = (point: number): number =>
  point > 0xffff
    ? classify(String.fromCodePoint(point))
    : known[point] || (known[point] = classify(String.fromCodePoint(point)))

/** A folded text with the borders of its words; a mark belongs to the letter before it. */
const bordered = (folded: string): string => {
  let marked = ""
  let from = 0
  let before = outside
  for (let at = 0; at < folded.length;) {
    const point = folded.codePointAt(at) ?? 0
    const kind = classOf(point)
    const goesOn = kind === ofLetter ? before !== outside : kind === before && kind !== wordByItself
    if (!goesOn) {
      marked += folded.slice(from, at) + border
      from = at
      before = kind === ofLetter ? inWord : kind
    }
    at += point > 0xffff ? 2 : 1
  }
  return marked + folded.slice(from) + (before === outside ? "" : border)
}

/** The parts of a text, ready to be searched for keywords. */
export const prepareText = (parts: ReadonlyArray<BoundedText>): string =>
  parts.map((part) => bordered(fold(part))).join(separator)

/**
 * A keyword, ready to be searched for; a whole word has a border wherever it begins or ends with a letter. Empty for one that
 * nothing can be compared with.
 */
export const prepareKeyword = (keyword: BoundedText, wholeWord: boolean): string => {
  const marked = bordered(fold(keyword))
  return wholeWord
    ? marked
    : marked.slice(marked.startsWith(border) ? 1 : 0, marked.endsWith(border) ? -1 : undefined)
}
