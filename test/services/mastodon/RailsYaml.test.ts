import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { parseScalar } from "../../../src/services/mastodon/RailsYaml.ts"

/** Line of a flow scalar; blanks around the words are not part of it. */
const Line = Schema.Struct({
  before: Schema.Literals(["", " ", "  ", "\t", " \t "]),
  words: Schema.Literals(["", "one", "two words", "a\tb", "c \t d"]),
  after: Schema.Literals(["", " ", "\t  "])
})
type Line = typeof Line.Type

/** Joins lines between two words: a quoted flow scalar is never cut before its first or after its last word. */
const written = (lines: ReadonlyArray<Line>) =>
  ["first", ...lines.map(({ after, before, words }) => before + words + after), "  last"].join("\n")

/**
 * Reads lines by the rule of YAML 1.2, 6.5, one by one: an empty line is a line feed, any other starts with a space.
 */
const read = (lines: ReadonlyArray<Line>) => {
  let [text, empty] = ["first", 0]
  for (const words of [...lines.map(({ words }) => words), "last"]) {
    if (words === "") empty++
    else {
      text += (empty === 0 ? " " : "\n".repeat(empty)) + words
      empty = 0
    }
  }
  return text
}

describe("values of Mastodon's settings", () => {
  it("are read as Ruby writes scalars", () => {
    for (
      const [document, value] of [
        ["--- Our server\n", "Our server"],
        ["--- Our server\n...\n", "Our server"],
        ["--- A long line that Ruby\n  folds at eighty\n  columns\n", "A long line that Ruby folds at eighty columns"],
        ["--- true\n...\n", true],
        ["--- 16\n...\n", 16],
        ["---\n...\n", null],
        ["--- \n", null],
        ["--- ''\n", ""],
        ["--- 'true'\n", "true"],
        ["--- 'It''s: ours'\n", "It's: ours"],
        ["--- 'folded\n  once\n\n  and broken'\n", "folded once\nand broken"],
        ["--- \"Tab\\t\\u00e4\\xE4\\e \\\"quoted\\\" \\\n  and \\\\n\"\n", "Tab\tää\u001b \"quoted\" and \\n"],
        ["--- |\n  One\n    two\n\n  three\n", "One\n  two\n\nthree\n"],
        ["--- |-\n  One\n  two\n", "One\ntwo"],
        ["--- |+\n  One\n\n", "One\n\n"],
        ["--- |2-\n    indented\n", "  indented"],
        ["--- https://rules.example/#a\n", "https://rules.example/#a"],
        ["--- 007\n", "007"]
      ] as const
    ) assert.strictEqual(parseScalar(document), value, document)
  })

  it("are undefined if they are lists, objects, references or not documents", () => {
    for (
      const document of [
        "---\n- a\n- b\n",
        "--- !ruby/hash:ActiveSupport::HashWithIndifferentAccess\na: b\n",
        "---\na: b\n",
        "--- &1 x\n",
        "--- *1\n",
        "--- [a]\n",
        "--- {}\n",
        "--- >\n  folded\n",
        "--- 'open\n",
        "Our server",
        ""
      ]
    ) assert.strictEqual(parseScalar(document), undefined, document)
  })

  it.prop("F291: of several lines are folded in each style", [Schema.Array(Line)], ([lines]) => {
    for (const quote of ["", "'", "\""]) {
      assert.strictEqual(parseScalar(`--- ${quote}${written(lines)}${quote}\n`), read(lines), quote)
    }
  })

  it("F291: keep escaped blanks and line breaks between double quotes only", () => {
    for (
      const [document, value] of [
        ["--- \"one\n\n\n  two\"\n", "one\n\ntwo"],
        ["--- \"one\\ \n  two\"\n", "one  two"],
        ["--- \"one\\  \t\n  two\"\n", "one  two"],
        ["--- \"one\\\\ \n  two\"\n", "one\\ two"],
        ["--- \"one \\\n  \\ two\"\n", "one  two"],
        ["--- \"one\\\n \n  two\"\n", "one\ntwo"],
        ["--- \"one\\n\n  two\"\n", "one\n two"],
        ["--- 'one\\ \n  two'\n", "one\\ two"],
        ["--- one\\ \n  two\n", "one\\ two"],
        // YAML 1.2, example 7.5.
        [
          "--- \"folded \nto a space,\t\n \nto a line feed, or \t\\\n \\ \tnon-content\"\n",
          "folded to a space,\nto a line feed, or \t \tnon-content"
        ]
      ] as const
    ) assert.strictEqual(parseScalar(document), value, document)
  })

  it("F291: take linear time for a megabyte of blanks, breaks and quotes", () => {
    const size = 1_000_000
    const blanks = " ".repeat(size)
    const cases: ReadonlyArray<readonly [string, string | null | undefined]> = [
      [`--- ${blanks}`, null],
      [`--- a${blanks}b`, `a${blanks}b`],
      [`--- 'a${blanks}b'`, `a${blanks}b`],
      [`--- "a${blanks}b"`, `a${blanks}b`],
      [`--- "a${blanks}\nb"`, "a b"],
      [`--- 'a\n${"\n".repeat(size)}b'`, `a${"\n".repeat(size)}b`],
      [`--- "a\n${" \n".repeat(size / 2)}b"`, `a${"\n".repeat(size / 2)}b`],
      [`--- '${"''".repeat(size / 2)}'`, "'".repeat(size / 2)],
      [`--- '${blanks}`, undefined],
      [`--- "${"\\".repeat(size)}`, undefined],
      [`--- |\n${blanks}`, ""]
    ]
    for (const [document, value] of cases) assert.isTrue(parseScalar(document) === value, document.slice(0, 9))
  })
})
