import { assert, describe, it } from "@effect/vitest"
import { decode } from "../../../src/services/outbound/Charsets.ts"

const latin = (text: string) => Buffer.from(text, "latin1")

describe("the charset of a page", () => {
  it("is its header's, else its markup's, else UTF-8 if valid, else the browsers' default", () => {
    assert.strictEqual(decode(latin("<title>Käse</title>"), "text/html; charset=ISO-8859-1"), "<title>Käse</title>")
    assert.include(decode(latin(`<meta charset="windows-1252"><title>Käse`), "text/html"), "Käse")
    assert.include(
      decode(latin(`<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-15">¤`), "text/html"),
      "€"
    )
    const japanese = Buffer.concat([
      Buffer.from(`<meta charset="Shift_JIS"><title>`),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b])
    ])
    assert.include(decode(japanese, "text/html"), "日本")
    assert.include(decode(Buffer.from("<title>日本"), "text/html"), "日本")
    assert.include(decode(Buffer.from("\ufeff<title>日本", "utf16le"), "text/html"), "日本")
    assert.include(decode(latin("<title>Käse"), "text/html"), "Käse")
  })

  it("UTF-8 that is cut within a character stays UTF-8; unknown names do not fail; JSON is UTF-8", () => {
    const cut = Buffer.from("<title>Käse 日").subarray(0, -1)
    assert.include(decode(cut, "text/html"), "Käse")
    assert.include(decode(Buffer.from("Käse"), "text/html; charset=nonsense"), "Käse")
    assert.include(decode(Buffer.from("Käse"), "application/json; charset=nonsense"), "Käse")
    assert.include(decode(Buffer.from("Käse"), "application/json"), "Käse")
  })
})
