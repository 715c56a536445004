import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { filterMatcher } from "../../../src/services/filters/FilterMatcher.ts"
import { fold, prepareKeyword, prepareText } from "../../../src/services/filters/FilterText.ts"
import { keywordSearch } from "../../../src/services/filters/KeywordSearch.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"

const matches = (keyword: string, wholeWord: boolean, ...parts: ReadonlyArray<string>) =>
  filterMatcher([{
    id: 1n,
    accountId: 1n,
    title: "",
    contexts: ["home"],
    action: "warn",
    expiresAt: null,
    keywords: [{ id: 2n, keyword, wholeWord }],
    statuses: []
  }]).match([], prepareText(parts.map((part) => bounded(part)))).length > 0

/** Naive version of the rule: every position of the folded keyword, and the characters around it. */
const model = (keyword: string, wholeWord: boolean, parts: ReadonlyArray<string>): boolean => {
  const wanted = [...fold(bounded(keyword))]
  if (wanted.length === 0) return false
  const kind = (characters: ReadonlyArray<string>, at: number): "none" | "word" | "alone" => {
    const character = characters[at]
    if (character === undefined) return "none"
    if (/\p{M}/u.test(character)) {
      const before = kind(characters, at - 1)
      return before === "none" ? "word" : before
    }
    return !/[\p{L}\p{N}\p{Pc}]/u.test(character)
      ? "none"
      : /[\p{Script=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]/u.test(character)
      ? "alone"
      : "word"
  }
  /** Returns true for a border between two characters; a mark is never separated from its letter. */
  const isBorder = (characters: ReadonlyArray<string>, at: number): boolean => {
    const [before, after] = [kind(characters, at - 1), kind(characters, at)]
    if (/\p{M}/u.test(characters[at] ?? "") && before !== "none") return false
    return before !== after || before === "alone"
  }
  return parts.some((part) => {
    const text = [...fold(bounded(part))]
    return text.some((_, at) => {
      const end = at + wanted.length
      if (end > text.length || wanted.some((character, index) => text[at + index] !== character)) return false
      // Borders between the keyword's characters must be the same in the text.
      for (let inside = 1; inside < wanted.length; inside++) {
        if (isBorder(wanted, inside) !== isBorder(text, at + inside)) return false
      }
      return !wholeWord || ((!isBorder(wanted, 0) || isBorder(text, at)) &&
        (!isBorder(wanted, wanted.length) || isBorder(text, end)))
    })
  })
}

describe("comparison of texts with keywords", () => {
  const found: ReadonlyArray<readonly [keyword: string, wholeWord: boolean, text: string]> = [
    ["cat", true, "A cat."],
    ["cat", true, "cat"],
    ["CAT", true, "my cAt, your dog"],
    ["cat", false, "concatenate"],
    ["straße", true, "STRASSE"],
    ["ΟΔΟΣ", true, "η οδος μου"],
    ["οδός", true, "Η ΟΔΌΣ"],
    ["istanbul", true, "İSTANBUL"],
    ["ısparta", true, "ISPARTA"],
    ["ｃａｔ", true, "cat"],
    ["cat", true, "ＣＡＴ"],
    ["café", true, "cafe\u0301"],
    ["cafe\u0301", true, "CAFÉ"],
    ["bad", true, "b\u0337\u0322a\u0336d\u0338"],
    ["bad", true, "b\u200Ba\u00ADd\uFE0F"],
    ["كتب", true, "كَتَبَ"],
    ["שלום", true, "שָׁלוֹם"],
    // Scripts without spaces have no whole words.
    ["猫", true, "私は猫が好き"],
    ["東京", true, "東京都"],
    ["แมว", true, "ฉันรักแมวมาก"],
    ["iPhone", true, "新しいiPhoneが"],
    ["ガ", true, "ｶﾞ"],
    ["고양이", true, "내 고양이 봐"],
    // Special characters of regular expressions are literal.
    ["c++", true, "I like C++."],
    ["a.c", false, "xa.cx"],
    [".*", false, "what is .* for"],
    ["(", false, "a ( b"],
    ["$5", true, "only $5 now"],
    ["#cats", true, "see #Cats!"],
    ["@ada", true, "hello @ada"],
    ["❤", true, "❤️"],
    ["👍", false, "👍🏽"],
    ["👩‍💻", true, "the 👩‍💻 works"],
    ["🇩🇪", true, "x🇩🇪y"],
    ["new york", true, "New\n\nYork"],
    ["new\u00A0york", true, "new  york"],
    ["don't", true, "I don't."],
    ["snake_case", true, "a snake_case name"]
  ]
  const missed: ReadonlyArray<readonly [keyword: string, wholeWord: boolean, text: string]> = [
    ["cat", true, "concatenate"],
    ["cat", true, "cats"],
    ["cat", true, "cat_food"],
    ["cat", true, "cat5"],
    ["cafe", true, "café"],
    ["cafe", false, "café"],
    ["ano", true, "año"],
    ["고양이", true, "고양이가"],
    ["a.c", false, "abc"],
    ["c++", true, "c+"],
    ["ก", true, "กิน"],
    ["кот", true, "скот"],
    [" ass ", false, "class"],
    ["\u200B", false, "nothing"]
  ]
  for (const [keyword, wholeWord, text] of found) {
    it(`S-080: ${JSON.stringify(keyword)}${wholeWord ? " as a word" : ""} is in ${JSON.stringify(text)}`, () => {
      assert.isTrue(matches(keyword, wholeWord, text))
    })
  }
  for (const [keyword, wholeWord, text] of missed) {
    it(`S-080: ${JSON.stringify(keyword)}${wholeWord ? " as a word" : ""} is not in ${JSON.stringify(text)}`, () => {
      assert.isFalse(matches(keyword, wholeWord, text))
    })
  }

  it("no keyword is found across two parts of a text", () => {
    assert.isFalse(matches("one two", false, "one", "two"))
    assert.isFalse(matches("onetwo", false, "one", "two"))
    assert.isTrue(matches("one", true, "one", "two"))
  })

  const Piece = Schema.Literals([
    "a",
    "b",
    "A",
    "é",
    "e",
    "\u0301",
    "_",
    " ",
    ".",
    "\n",
    "猫",
    "の",
    "ก",
    "ิ",
    "😀",
    "\u200D",
    "ß",
    "1"
  ])
  const Text = Schema.Array(Piece).check(Schema.isMaxLength(12))
  const Keyword = Schema.Array(Piece).check(Schema.isBetweenLength(1, 3))

  it.prop(
    "matches like the plain model",
    [Text, Text, Schema.Array(Schema.Tuple([Keyword, Schema.Boolean])).check(Schema.isBetweenLength(1, 8))],
    ([text, other, keywords]) => {
      const parts = [text.join(""), other.join("")]
      const given = keywords.map(([pieces, wholeWord]) => [pieces.join(""), wholeWord] as const)
      const filters = given.map(([keyword, wholeWord], index) => ({
        id: BigInt(index),
        accountId: 1n,
        title: "",
        contexts: ["home" as const],
        action: "warn" as const,
        expiresAt: null,
        keywords: [{ id: BigInt(index), keyword, wholeWord }],
        statuses: []
      }))
      const matched = new Set(
        filterMatcher(filters).match([], prepareText(parts.map((part) => bounded(part)))).map(({ filter }) =>
          Number(filter.id)
        )
      )
      given.forEach(([keyword, wholeWord], index) => {
        assert.strictEqual(
          matched.has(index),
          model(keyword, wholeWord, parts),
          JSON.stringify({ parts, keyword, wholeWord })
        )
      })
    },
    { arbitrary: { runs: 3_000 } }
  )

  it.prop("folding a folded text changes nothing", [Schema.String], ([text]) => {
    assert.strictEqual(fold(bounded(fold(bounded(text)))), fold(bounded(text)))
  })
})

describe("the search for many keywords", () => {
  const Word = Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isBetweenLength(1, 6))
  const Text = Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isMaxLength(60))

  it.prop(
    "finds each that occurs in the text, once, and no other",
    [Schema.Array(Word).check(Schema.isMaxLength(40)), Text],
    ([words, pieces]) => {
      const keywords = words.map((word) => word.join(""))
      const text = pieces.join("")
      assert.deepStrictEqual(
        keywordSearch(keywords).find(text).toSorted((a, b) => a - b),
        keywords.flatMap((keyword, place) => text.includes(keyword) ? [place] : [])
      )
    },
    { arbitrary: { runs: 2_000 } }
  )

  it("row 39: each keyword is reported once, however often it occurs in the text and in others", () => {
    // Every keyword ends at every position of the text: reported singly, that would be 18 million matches.
    const keywords = Array.from({ length: 300 }, (_, length) => "a".repeat(length + 1)).concat(`${"a".repeat(400)}b`)
    const search = keywordSearch(keywords)
    assert.strictEqual(search.find("a".repeat(60_000)).length, 300)
    assert.isBelow(search.bytes, 200_000)
  })

  it("a keyword without comparable characters is ignored", () => {
    assert.strictEqual(prepareKeyword(bounded("\u200B\uFE0F"), true), "")
    assert.strictEqual(filterMatcher([]).match([1n], prepareText([bounded("anything")])).length, 0)
  })
})
