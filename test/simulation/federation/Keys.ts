import { Effect, Layer } from "effect"
import { checkPrimeSync, createPrivateKey, createPublicKey, sign } from "node:crypto"
import { SlowKeyWork } from "../../../src/layers/NodeKeyOperations.ts"
import { type KeyPair, rsaBits } from "../../../src/services/federation/signatures/KeyOperations.ts"
import { Dice } from "../Seeded.ts"

const exponent = 65_537n

/** Draws an odd number of half the key's bits, with both top bits set and no factor in common with `exponent`. */
const prime = (dice: Dice): bigint => {
  for (;;) {
    let value = 3n
    for (let bits = 2; bits < rsaBits / 2; bits += 16) {
      const more = BigInt(Math.min(16, rsaBits / 2 - bits))
      value = (value << more) | BigInt(dice.between(0, 2 ** Number(more)))
    }
    value |= 1n
    if (value % exponent !== 1n && checkPrimeSync(value)) return value
  }
}

const inverse = (value: bigint, modulus: bigint): bigint => {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n]
  while (a > 1n) {
    const quotient = a / b
    ;[a, b] = [b, a % b]
    ;[x, y] = [y, x - quotient * y]
  }
  return x < 0n ? x + modulus : x
}

const base64url = (value: bigint) => {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex").toString("base64url")
}

const make = (name: string): KeyPair => {
  const dice = new Dice(1, name)
  const [p, q] = [prime(dice), prime(dice)]
  const d = inverse(exponent, (p - 1n) * (q - 1n))
  const numbers = { n: p * q, e: exponent, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) }
  const jwk = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, base64url(value)]))
  const key = createPrivateKey({ key: { kty: "RSA", ...jwk }, format: "jwk" })
  return {
    publicPem: String(createPublicKey(key).export({ type: "spki", format: "pem" })),
    privatePem: String(key.export({ type: "pkcs8", format: "pem" }))
  }
}

const pairs = new Map<string, KeyPair>()

/** Returns the key of a name: the same in every process, made once per process. */
const keyOf = (name: string) => {
  const known = pairs.get(name)
  if (known !== undefined) return known
  const pair = make(name)
  pairs.set(name, pair)
  return pair
}

/**
 * Real RSA keys and signatures, without threads or randomness: each server makes its own sequence of keys. `generated`
 * counts them across restarts of a process.
 */
export const layer = (site: string, count: { generated: number }) =>
  Layer.succeed(SlowKeyWork, {
    generate: Effect.sync(() => keyOf(`${site} ${count.generated++}`)),
    sign: (data, key) => Effect.sync(() => sign(key.asymmetricKeyType === "rsa" ? "sha256" : null, data, key))
  })
