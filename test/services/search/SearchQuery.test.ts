import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

import { queryCharactersMax, readQuery } from "../../../src/services/search/SearchQuery.ts"

/** Returns the short form of a parsed query. */
const read = (text: string) => {
  const { operators, terms } = readQuery(text)
  return [
    ...terms.map(({ negated, value }) => {
      const name = (
        part: { readonly kind: string; readonly plain?: string; readonly letters?: ReadonlyArray<string> }
      ) => part.plain ?? part.letters?.join("") ?? ""
      const term = value.kind === "part"
        ? name(value.part)
        : value.kind === "phrase"
        ? `"${value.parts.map(name).join(" ")}"`
        : `#${value.name}`
      return `${negated ? "-" : ""}${term}`
    }),
    ...operators.map(({ negated, value }) => {
      const { kind, ...rest } = value
      return `${negated ? "-" : ""}${kind}:${Object.values(rest).map((value) => JSON.stringify(value)).join()}`
    })
  ].join(" ")
}

describe("queries", () => {
  const cases: ReadonlyArray<readonly [string, string]> = [
    ["Fox  BROWN fox", "fox brown"],
    ["\"brown fox\" -lazy", "\"brown fox\" -lazy"],
    ["„brauner Fuchs“ “brown fox”", "\"brauner fuchs\" \"brown fox\""],
    ["fox \"never closed", "fox \"never closed\""],
    ["-\"brown fox\"", "-\"brown fox\""],
    ["-foo.bar", "-\"foo bar\""],
    ["#Café -#fox #", "#cafe -#fox"],
    ["has:image is:reply has:unicorns", "has unicorns property:\"image\" property:\"reply\""],
    ["-has:media LANGUAGE:pt-BR", "-property:\"media\" language:\"pt-br\""],
    ["from:me from:@ada@other.example -from:ben", "from:\"me\" from:\"@ada@other.example\" -from:\"ben\""],
    ["before:2024-02-29 x", "x before:{\"kind\":\"date\",\"date\":{\"year\":2024,\"month\":2,\"day\":29}}"],
    ["before:2023-02-29 x", "before 2023 02 29 x"],
    [
      "after:\"2024-01\" during:2023",
      "after:{\"kind\":\"date\",\"date\":{\"year\":2024,\"month\":1}} during:{\"kind\":\"date\",\"date\":{\"year\":2023}}"
    ],
    ["after:1700000000000", "after:{\"kind\":\"millis\",\"millis\":1700000000000}"],
    ["in:library in:nowhere", "in nowhere in:\"library\""],
    ["https://example.com/a-page", "https example com a page"],
    ["iPhone用ケース", "iphone 用ケース"],
    ["- -- : \" -\"\" !!! from: :", "\"from\""],
    ["l'ami Ærøskøbing ёж", "l ami aeroskobing еж"],
    ["ＦＵＬＬ　ｗｉｄｔｈ", "full width"]
  ]
  for (const [text, expected] of cases) it(text, () => assert.strictEqual(read(text), expected))

  const Fragment = Schema.Literals([
    "-",
    "\"",
    "“",
    "from:",
    "has:",
    "before:",
    "2024-13",
    "#",
    "東京",
    "\u0301",
    "\ud800",
    " ",
    "x",
    ":",
    "\0",
    "ﷺ",
    "fox",
    "in:"
  ])
  it.prop(
    "S-150, row 83: any text is a valid query of bounded size, parsed the same each time",
    [Schema.Array(Fragment), Schema.String],
    ([fragments, any]) => {
      for (const text of [any, fragments.join(""), fragments.join(" ").repeat(30)]) {
        const { operators, terms } = readQuery(text)
        assert.isAtMost(terms.length, 10)
        assert.isAtMost(operators.length, 20)
        assert.deepStrictEqual(readQuery(text.slice(0, queryCharactersMax)), { operators, terms })
      }
    }
  )
})
