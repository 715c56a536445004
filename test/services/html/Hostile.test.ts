import { assert, describe, it } from "@effect/vitest"
import { contentCharactersMax } from "../../../src/services/federation/documents/ForeignNote.ts"
import { marksMax, sanitise } from "../../../src/services/html/Sanitise.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"
import { best, fill } from "../../support/MachineSpeed.ts"

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

  it.each([...tags, ...pieces])("the maximum amount of %j is read within 50 ms of CPU", (seed) => {
    const hostile = fill(seed, contentCharactersMax)
    assert.isBelow(best(() => sanitise(bounded(hostile))), 50)
  })

  it("a long text is kept whole, and one with too many tags ends before the next", () => {
    const long = `<p>${"words ".repeat(contentCharactersMax / 6 - 10)}</p>`
    assert.strictEqual(sanitise(bounded(long)), long)
    const many = "<b>x</b>".repeat(marksMax)
    assert.strictEqual(sanitise(bounded(many)), "<b>x</b>".repeat(marksMax / 2))
  })
})
