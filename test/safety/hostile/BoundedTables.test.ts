import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { sourcesIn } from "../../support/source.ts"

const tablesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, table]) => table)

/** Tables with a bound per member, each of which has a test of its own. */
const perMember = ["domain_mutes"]

it("F73: each table that `requireCapacity` bounds has a row in Bounds.test.ts", () => {
  const rows = tablesIn(readFileSync(`${import.meta.dirname}/Bounds.test.ts`, "utf8"), /^    table: "(\w+)",$/gm)
  const bounded = sourcesIn("src").flatMap(({ text }) => tablesIn(text, /requireCapacity\(sql, \{\s*table: "(\w+)"/g))
  assert.sameMembers([...rows, ...perMember], bounded)
})
