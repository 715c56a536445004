import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { colorsOf, contrast } from "../../../src/layers/media/Colors.ts"

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Color = Schema.Tuple([Byte, Byte, Byte])
type Color = readonly [number, number, number]

/** Makes a picture of 16 by 16 pixels whose middle has the second and third colour. */
const picture = (behind: Color, first: Color, second: Color) =>
  new Uint8ClampedArray(
    Array.from({ length: 256 }, (_, at) => {
      const [row, column] = [Math.floor(at / 16), at % 16]
      const inside = row > 3 && row < 12 && column > 3 && column < 12
      return [...(inside ? (column < 8 ? first : second) : behind), 255]
    }).flat()
  )

const parsed = (hex: string): Color => {
  assert.match(hex, /^#[0-9a-f]{6}$/)
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16)
  return [part(1), part(3), part(5)]
}

describe("the colours of a picture", () => {
  it("F36: the background is the colour at the edges, text contrasts with it, the accent is the strongest colour", () => {
    assert.deepStrictEqual(colorsOf(picture([32, 32, 32], [255, 255, 255], [240, 64, 32]), 16), {
      background: "#202020",
      foreground: "#ffffff",
      accent: "#f04020"
    })
    assert.deepStrictEqual(colorsOf(new Uint8ClampedArray([250, 250, 250, 255]), 1), {
      background: "#fafafa",
      foreground: "#000000",
      accent: "#000000"
    })
  })

  it.prop("F36: text is readable on any background", [Color, Color, Color], ([behind, first, second]) => {
    const { accent, background, foreground } = colorsOf(picture(behind, first, second), 16)
    assert.isAtLeast(contrast(parsed(foreground), parsed(background)), 4.45)
    assert.isAtLeast(contrast(parsed(accent), parsed(background)), 2.95)
  })
})
