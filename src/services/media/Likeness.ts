/**
 * What a picture looks like, in 64 bits: of 8 rows of 9 fields each, where it gets brighter from one to the next. Pictures that
 * were made smaller, packed anew or coloured a little keep nearly all of them (a difference hash).
 */
const [columns, rows] = [9, 8]
/** Width and height of the grey picture that is looked at: a multiple of both. */
export const likenessEdgePixels = 72
/** Of 255: what is less is no difference that anybody sees. */
const stepMin = 2
/** Bits that have to be set and unset; a plain surface looks like every other one. */
const tellingBitsMin = 6
/** Bits in which two may differ and still look alike. */
const differentBitsMax = 8

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

/** The hash of grey pixels, `likenessEdgePixels` squared of them; 0 for what looks like nothing. */
export const likenessHash = (grey: Uint8Array): bigint => {
  const [width, height] = [likenessEdgePixels / columns, likenessEdgePixels / rows]
  const brightness = (column: number, row: number): number => {
    let sum = 0
    for (let y = row * height; y < (row + 1) * height; y++) {
      for (let x = column * width; x < (column + 1) * width; x++) sum += grey[y * likenessEdgePixels + x] ?? 0
    }
    return sum / (width * height)
  }
  let hash = 0n
  let count = 0
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const brighter = brightness(column + 1, row) - brightness(column, row) >= stepMin
      hash = (hash << 1n) | (brighter ? 1n : 0n)
      if (brighter) count++
    }
  }
  return count < tellingBitsMin || count > 64 - tellingBitsMin ? 0n : BigInt.asIntN(64, hash)
}
