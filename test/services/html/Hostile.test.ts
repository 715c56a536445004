import { assert, describe, it } from "@effect/vitest"
import { contentCharactersMax } from "../../../src/services/federation/documents/ForeignNote.ts"
import { marksMax, sanitiseForeign } from "../../../src/services/html/Sanitise.ts"

/** CPU time in milliseconds, the best of some runs, so that another process on this machine does not decide. */
const best = (run: () => unknown) =>
  Math.min(...Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    run()
    const { system, user } = process.cpuUsage(start)
    return (user + system) / 1000
  }))
const fill = (seed: string, length: number) => seed.repeat(Math.ceil(length / seed.length)).slice(0, length)

describe("row 35: HTML of other servers", () => {
  const tags: ReadonlyArray<string> = [
    "<p>",
    "</p>",
    "<b><i>",
    "<ul><li>",
    "<h1><p>",
    "<span class=\"h-a\">",
    "<em>x</em>"
  ]
  const pieces: ReadonlyArray<string> = [
    "<",
    "&",
    "&amp",
    "<a href=\"",
    "<a href='http://a.b/' ",
    "<!--",
    "<![CDATA[",
    "<p a=a "
  ]

  it.each([...tags, ...pieces])("as much as there may be of %j is read within 50 ms of CPU", (seed) => {
    const hostile = fill(seed, contentCharactersMax)
    assert.isBelow(best(() => sanitiseForeign(hostile)), 50)
  })

  it("a long text stays whole, and one with too many tags ends before the next", () => {
    const long = `<p>${"words ".repeat(contentCharactersMax / 6 - 10)}</p>`
    assert.strictEqual(sanitiseForeign(long), long)
    const many = "<b>x</b>".repeat(marksMax)
    assert.strictEqual(sanitiseForeign(many), "<b>x</b>".repeat(marksMax / 2))
  })
})
