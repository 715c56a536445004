import { assert, describe, it } from "@effect/vitest"
import { parseScalar } from "../../../src/services/mastodon/RailsYaml.ts"

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

  it("are undefined if they are lists, objects, references or no documents", () => {
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
})
