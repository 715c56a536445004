import { assert, describe, it } from "@effect/vitest"
import { graphemes, sourceBytesMax, statusCharactersMax, tooLong } from "../../../src/services/html/Text.ts"

describe("S-001 length of a status", () => {
  const x = (count: number) => "x".repeat(count)

  it.each<[string, string, boolean]>([
    ["500 letters", x(500), false],
    ["501 letters", x(501), true],
    ["500 families of seven code points", "👨‍👩‍👧‍👦".repeat(500), false],
    ["501 letters with accents of their own", "e\u0301".repeat(501), true],
    ["a URL counts 23, however long", `${x(476)} https://example.org/${x(300)}`, false],
    ["a URL counts 23, however short", `${x(477)} https://a.b`, true],
    ["a mention counts its local part", `${x(493)} @alice@${x(200)}.example`, false],
    ["a mention's local part counts", `${x(494)} @alice@example.org`, true],
    ["what is no URL counts in full", `${x(470)} http:/${x(60)}`, true]
  ])("%s", (_, source, expected) => assert.strictEqual(tooLong(source), expected))

  it("counts the content warning, with its links and mentions in full", () => {
    assert.isFalse(tooLong(x(400), x(100)))
    assert.isTrue(tooLong(x(400), x(101)))
    assert.isTrue(tooLong(x(471), "https://example.org/0123456789"))
  })

  it("refuses a text of too many code units without reading it", () => {
    assert.isTrue(tooLong(`a${"\u0301".repeat(sourceBytesMax)}`))
    assert.isFalse(tooLong(`a${"\u0301".repeat(1000)}`))
  })

  it("counts no further than requested", () => {
    assert.strictEqual(graphemes("abc"), 3)
    assert.strictEqual(graphemes(x(10_000), statusCharactersMax), statusCharactersMax + 1)
  })
})
