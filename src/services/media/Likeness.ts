/**
 * What a picture looks like, in 64 bits: of its 64 coarsest waves, which are strong (a perceptual hash by cosine transform). Pictures
 * that were made smaller, packed anew, coloured or cut a little keep nearly all of them.
 */
/** Width and height of the grey picture that is looked at. */
export const likenessEdgePixels = 32
/** Waves each way that are looked at, beside the one that is the brightness of all. */
const waves = 8
/** Of 255: how far a picture has to swing for being told from a plain surface, which looks like every other one. */
const swingMin = 2
/** Bits in which two may differ and still look alike. */
const differentBitsMax = 10

const ones = (bits: number): number => {
  let left = bits - ((bits >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Bits of a hash in two halves, by which many are compared fast. */
export interface Likeness {
  readonly high: number
  readonly low: number
}

export const likenessOf = (hash: bigint): Likeness => ({
  high: Number(BigInt.asIntN(32, hash >> 32n)),
  low: Number(BigInt.asIntN(32, hash))
})

/** Whether a picture looks like something at all; a hash of 0 is that of one that does not. */
export const isTelling = (hash: bigint | null): hash is bigint => hash !== null && hash !== 0n

export const looksAlike = (one: Likeness, other: Likeness): boolean =>
  ones(one.high ^ other.high) + ones(one.low ^ other.low) <= differentBitsMax

/** `cosines[wave][place]`, of a wave along an edge. */
const cosines = Array.from({ length: waves + 1 }, (_, wave) =>
  Array.from(
    { length: likenessEdgePixels },
    (_, place) => Math.cos(((2 * place + 1) * wave * Math.PI) / (2 * likenessEdgePixels))
  ))

/** How strong each wave is: those that go 0 to 7 times across, and 1 to 8 times down. */
const strengths = (grey: Uint8Array): ReadonlyArray<number> => {
  const edge = likenessEdgePixels
  const acrossRows = cosines.slice(0, waves).map((cosine) =>
    Array.from({ length: edge }, (_, row) => {
      let sum = 0
      for (let at = 0; at < edge; at++) sum += (grey[row * edge + at] ?? 0) * (cosine[at] ?? 0)
      return sum
    })
  )
  return cosines.slice(1).flatMap((cosine) =>
    acrossRows.map((rows) => rows.reduce((sum, value, row) => sum + value * (cosine[row] ?? 0), 0) / (edge * edge))
  )
}

/** The hash of grey pixels, `likenessEdgePixels` squared of them; 0 for what looks like nothing. */
export const likenessHash = (grey: Uint8Array): bigint => {
  const found = strengths(grey)
  const middle = found.toSorted((one, other) => one - other)[found.length / 2] ?? 0
  if (found.every((one) => Math.abs(one) < swingMin)) return 0n
  let hash = 0n
  for (const one of found) hash = (hash << 1n) | (one > middle ? 1n : 0n)
  return BigInt.asIntN(64, hash)
}
