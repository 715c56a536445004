import { assert, describe, it } from "@effect/vitest"
import {
  bounded,
  boundedBytesMax,
  ifBounded,
  marksInRowMax,
  shortText,
  shortUnitsMax
} from "../../../src/services/text/BoundedText.ts"
import { compatible, compatibleDecomposed, composed, decomposed } from "../../../src/services/text/Normalisation.ts"
import { worstTexts } from "../../safety/text/worstTexts.ts"
import { best } from "../../support/MachineSpeed.ts"

const marks = (count: number) => "\u0301\u0316".repeat(count).slice(0, count)

describe("F104: text from outside", () => {
  it("has no more consecutive marks than a normaliser processes in linear time", () => {
    assert.strictEqual(bounded(`a${marks(marksInRowMax)}b`), `a${marks(marksInRowMax)}b`)
    assert.strictEqual(bounded(`a${marks(99)}b`), `a${marks(marksInRowMax)}b`)
    // Comparisons drop joiners, which would merge two runs of marks.
    const joined = `a${marks(20)}\u200d${marks(20)}`
    assert.isAtMost(bounded(joined).replaceAll("\u200d", "").length, 1 + marksInRowMax)
    // U+0344 decomposes to two marks.
    assert.isAtMost(decomposed(bounded(`a${"\u0344".repeat(99)}`)).length, 1 + 2 * marksInRowMax)
    const family = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"
    for (const usual of ["", "a", family.repeat(500), "\u0e01\u0e33".repeat(500), "e\u0301".repeat(500)]) {
      assert.strictEqual(bounded(usual), usual)
    }
  })

  it("is cut at its maximum bytes between two characters", () => {
    assert.strictEqual(bounded("a\u{1f600}b", 5), "a\u{1f600}")
    assert.strictEqual(bounded("a\u{1f600}b", 4), "a")
    assert.strictEqual(Buffer.byteLength(bounded("\u4e2d".repeat(boundedBytesMax))), boundedBytesMax - 1)
    assert.strictEqual(bounded("a".repeat(9), Number.MAX_SAFE_INTEGER).length, 9)
    assert.strictEqual(bounded("a".repeat(2 * boundedBytesMax), Number.MAX_SAFE_INTEGER).length, boundedBytesMax)
  })

  it("is refused if something would have to be cut", () => {
    assert.strictEqual(ifBounded("abc", 3), "abc")
    assert.isUndefined(ifBounded("abcd", 3))
    assert.isUndefined(ifBounded(`a${marks(99)}`))
  })

  it("keeps all its marks if it is a secret, which is short", () => {
    assert.strictEqual(shortText(marks(200)), marks(200))
    assert.strictEqual(shortText("a".repeat(999)).length, shortUnitsMax)
    assert.isBelow(best(() => composed(shortText(`a${marks(999)}`))), 5)
  })

  it.each(worstTexts(1_048_576))("is normalised in time, for any content: %s", (_, text) => {
    const all = () =>
      [composed, decomposed, compatible, compatibleDecomposed].map((form) => form(bounded(text, 65_536)))
    assert.isBelow(best(all), 50)
  })
})
