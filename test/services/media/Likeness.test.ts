import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import sharp from "sharp"
import { likeness } from "../../../src/layers/media/Pictures.ts"
import { isSimilar, isUsableHash, perceptualHash, splitHash } from "../../../src/services/media/Likeness.ts"
import { best } from "../../support/MachineSpeed.ts"

const edge = 300

/** Draws a picture of random circles; the same seed gives the same picture. */
const drawn = (seed: number) => {
  let chance = seed * 7_919 + 13
  const random = (below: number) => (chance = (chance * 48_271) % 2_147_483_647) % below
  const pixels = new Uint8Array(edge * edge * 3).fill(119)
  for (let circle = 0; circle < 12; circle++) {
    const [x, y, radius] = [random(edge), random(edge), 20 + random(80)]
    const colour = [random(256), random(256), random(256)]
    for (let at = 0; at < edge * edge; at++) {
      if ((at % edge - x) ** 2 + (Math.floor(at / edge) - y) ** 2 <= radius ** 2) pixels.set(colour, at * 3)
    }
  }
  return sharp(pixels, { raw: { width: edge, height: edge, channels: 3 } }).png().toBuffer()
}
const hashOf = (file: Buffer) => Effect.runPromise(likeness(file))
const alike = (one: bigint, other: bigint) => isSimilar(splitHash(one), splitHash(other))

describe("picture similarity", () => {
  it("is unchanged after shrinking, re-encoding, slight colouring or framing, and differs for other pictures", async () => {
    const hashes = await Promise.all(Array.from({ length: 20 }, async (_, seed) => hashOf(await drawn(seed))))
    assert.isTrue(hashes.every(isUsableHash))
    for (const [seed, hash] of hashes.entries()) {
      const file = await drawn(seed)
      const copies = await Promise.all([
        sharp(file).resize(48, 48).jpeg({ quality: 40 }).toBuffer(),
        sharp(file).webp({ quality: 30 }).toBuffer(),
        sharp(file).modulate({ brightness: 1.08, saturation: 0.5 }).png().toBuffer(),
        sharp(file).extract({ left: 3, top: 3, width: 294, height: 294 }).png().toBuffer(),
        sharp(file).gif().toBuffer()
      ])
      for (const [at, copy] of copies.entries()) assert.isTrue(alike(await hashOf(copy), hash), `${seed} ${at}`)
      for (const [other, theirs] of hashes.entries()) {
        if (other !== seed) assert.isFalse(alike(theirs, hash), `${seed} ${other}`)
      }
    }
  })

  it("plain surfaces match nothing, nor do files that are not pictures", async () => {
    for (const colour of ["#000", "#fff", "#3af"]) {
      const plain = await sharp({ create: { width: 400, height: 400, channels: 3, background: colour } }).png()
        .toBuffer()
      assert.strictEqual(await hashOf(plain), 0n)
    }
    assert.strictEqual(await hashOf(Buffer.from("GIF89a and nothing else")), 0n)
    assert.strictEqual(await hashOf(Buffer.alloc(0)), 0n)
    assert.strictEqual(perceptualHash(new Uint8Array(0)), 0n)
  })

  it("thousands are compared in a moment", () => {
    const many = Array.from({ length: 6_500 }, (_, n) => splitHash(BigInt(n) * 0x9e3779b97f4a7c1n))
    const [one] = many
    assert.isBelow(best(() => many.filter((other) => isSimilar(other, one!))), 5)
  })
})
