import { assert, describe, it } from "@effect/vitest"
import { accentOf, contrastOf, palette } from "../../../src/http/html/Palette.ts"

/** All 4,096 colours whose components repeat one digit. */
const colors = Array.from({ length: 4_096 }, (_, at) => {
  const digits = at.toString(16).padStart(3, "0")
  return `#${[...digits].map((digit) => digit + digit).join("")}`
})

describe("the colour of the server", () => {
  it("S-235: text in it and on it is readable in light and dark mode, for any choice by staff", () => {
    for (const scheme of ["light", "dark"] as const) {
      const { back, card, dangerBack, goodBack } = palette[scheme]
      const unreadable = colors.flatMap((chosen) => {
        const { accent, onAccent } = accentOf(chosen, scheme)
        return [back, card, dangerBack, goodBack, onAccent].flatMap((other) =>
          contrastOf(accent, other) < 4.5 ? [`${chosen} as ${accent} with ${other}`] : []
        )
      })
      assert.deepStrictEqual(unreadable, [], scheme)
    }
  })

  it("texts have a contrast of 7, as WCAG 2.2 wants it for AAA, and soft ones of 4.5", () => {
    for (const scheme of ["light", "dark"] as const) {
      const { back, card, dangerBack, goodBack, soft, text } = palette[scheme]
      for (const behind of [back, card, dangerBack, goodBack]) {
        assert.isAtLeast(contrastOf(text, behind), 7, `${scheme} ${behind}`)
      }
      for (const behind of [back, card]) assert.isAtLeast(contrastOf(soft, behind), 4.5, `${scheme} ${behind}`)
    }
  })

  it("S-235: a readable colour stays unchanged; the usual ones are readable", () => {
    for (const scheme of ["light", "dark"] as const) {
      const { accent, onAccent } = palette[scheme]
      assert.deepStrictEqual(accentOf(accent, scheme), { accent, onAccent })
    }
    assert.deepStrictEqual(accentOf("#ffff00", "dark").accent, "#ffff00")
    assert.notStrictEqual(accentOf("#ffff00", "light").accent, "#ffff00")
    assert.closeTo(contrastOf("#000000", "#ffffff"), 21, 0.01)
  })
})
