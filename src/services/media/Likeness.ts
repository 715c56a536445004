/**
 * Perceptual hash of an image, in 64 bits: which of its 64 lowest frequencies are strong (by cosine transform). Images
 * that were scaled, recompressed, recoloured or slightly cropped keep nearly all bits.
 */
/** Width and height of the greyscale image that is hashed. */
export const hashEdgePixels = 32
/** Frequencies in each direction, without the constant one. */
const frequencies = 8
/**
 * Minimum strength of a frequency, out of 255, to be distinguished from a plain surface; plain surfaces all look alike.
 */
const strengthMin = 2
/** Maximum number of different bits of similar images. */
const differentBitsMax = 10

const ones = (bits: number): number => {
  let left = bits - ((bits >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Hash in two 32-bit halves, for fast comparison. */
export interface HashParts {
  readonly high: number
  readonly low: number
}

export const splitHash = (hash: bigint): HashParts => ({
  high: Number(BigInt.asIntN(32, hash >> 32n)),
  low: Number(BigInt.asIntN(32, hash))
})

/** Returns true if the image has a useful hash; 0 means that it looks plain. */
export const isUsableHash = (hash: bigint | null): hash is bigint => hash !== null && hash !== 0n

export const isSimilar = (one: HashParts, other: HashParts): boolean =>
  ones(one.high ^ other.high) + ones(one.low ^ other.low) <= differentBitsMax

/** `cosines[frequency][place]` along an edge. */
const cosines = Array.from({ length: frequencies + 1 }, (_, wave) =>
  Array.from(
    { length: hashEdgePixels },
    (_, place) => Math.cos(((2 * place + 1) * wave * Math.PI) / (2 * hashEdgePixels))
  ))

/** Returns the strength of each frequency: 0 to 7 horizontally, 1 to 8 vertically. */
const strengths = (grey: Uint8Array): ReadonlyArray<number> => {
  const edge = hashEdgePixels
  const acrossRows = cosines.slice(0, frequencies).map((cosine) =>
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

/** Returns the hash of greyscale pixels, `hashEdgePixels` squared of them; 0 for a plain image. */
export const perceptualHash = (grey: Uint8Array): bigint => {
  const found = strengths(grey)
  const middle = found.toSorted((one, other) => one - other)[found.length / 2] ?? 0
  if (found.every((one) => Math.abs(one) < strengthMin)) return 0n
  let hash = 0n
  for (const one of found) hash = (hash << 1n) | (one > middle ? 1n : 0n)
  return BigInt.asIntN(64, hash)
}
