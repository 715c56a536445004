import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { headBytes, sniff } from "../../../src/services/media/FileTypes.ts"

const begins = (text: string) => {
  const head = new Uint8Array(headBytes)
  head.set(Buffer.from(text, "latin1"))
  return head
}
const box = (brand: string) => begins(`\0\0\0\x18ftyp${brand}\0\0\0\0`)

describe("types of files", () => {
  const files: ReadonlyArray<readonly [name: string, head: Uint8Array, mime: string | undefined]> = [
    ...["heic", "heix", "hevc", "hevx"].map((brand) => [`HEIC ${brand}`, box(brand), "image/heic"] as const),
    ...["mif1", "msf1"].map((brand) => [`HEIF ${brand}`, box(brand), "image/heif"] as const),
    ["an MP4", box("isom"), "video/mp4"],
    ["an M4A", box("M4A "), "audio/mp4"],
    ["Matroska", begins("\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska"), undefined],
    ["WebM", begins("\x1a\x45\xdf\xa3\x8f\x42\x82\x84webm"), "video/webm"],
    ["MPEG 2.5, layer 3", begins("\xff\xe3\x18\xc4"), "audio/mpeg"],
    ["MPEG 1, layer 3", begins("\xff\xfb\x90\x64"), "audio/mpeg"],
    ["a WAVE", begins("RIFF\x24\0\0\0WAVEfmt "), "audio/wave"],
    ["an SVG", begins("<svg xmlns=\"http://www.w3.org/2000/svg\">"), undefined],
    ["a PDF", begins("%PDF-1.7"), undefined],
    ["a program", begins("\x7fELF"), undefined]
  ]
  for (const [name, head, mime] of files) {
    it.effect(`F33: ${name} is ${mime ?? "unsupported"}`, () =>
      Effect.map(sniff(head), (found) => assert.strictEqual(found?.mime, mime)))
  }

  it.effect.prop(
    "F33: any bytes have a type or none, cut anywhere",
    { bytes: Schema.Uint8Array },
    ({ bytes }) =>
      Effect.gen(function*() {
        for (const [, head] of files) yield* sniff(head.subarray(0, bytes.length))
        const found = yield* sniff(bytes)
        assert.isTrue(found === undefined || found.mime.includes("/"))
      })
  )
})
