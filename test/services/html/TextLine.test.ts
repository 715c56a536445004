import { assert, describe, it } from "@effect/vitest"
import { line } from "../../../src/services/html/TextLine.ts"

describe("lines of text", () => {
  it("F75: have no marks that change the direction of surrounding text", () => {
    assert.strictEqual(line("Invoice \u202Efdp.exe", 100), "Invoice fdp.exe")
    assert.strictEqual(line("\u2066a\u2069 \u200Fb", 100), "a b")
    assert.strictEqual(line("\u202E\u2066", 100), "")
    // Emoji and joining scripts keep their joiners.
    assert.strictEqual(line("\u{1F469}\u200D\u{1F680}", 100), "\u{1F469}\u200D\u{1F680}")
  })
})
