import { Effect, Redacted } from "effect"
import { createECDH } from "node:crypto"

const curve = "prime256v1"
const privateKeyBytes = 32

/** Restores leading zeros of a key, which Node drops (one key in 256 has some) and signers need. */
const padded = (key: Uint8Array) =>
  Buffer.concat([new Uint8Array(privateKeyBytes - key.length), key]).toString("base64url")

/** Generates a private key for web push, as base64url (RFC 8292 section 3.1). */
export const makePrivateKey = Effect.sync(() => {
  const pair = createECDH(curve)
  pair.generateKeys()
  return padded(pair.getPrivateKey())
})

/** Returns the key pair of a private key, which may be stored without its leading zeros. */
export const pairOf = (privateKey: Redacted.Redacted<string>) => {
  const pair = createECDH(curve)
  pair.setPrivateKey(Redacted.value(privateKey), "base64url")
  return { publicKey: pair.getPublicKey("base64url"), privateKey: Redacted.make(padded(pair.getPrivateKey())) }
}

/**
 * Returns the pair of another server's keys, which may be padded; undefined if they are no keys, or not of one pair.
 */
export const givenPair = (privateKey: string, publicKey: string) => {
  if (!/^[\w-]{43}=?$/.test(privateKey)) return undefined
  try {
    const pair = pairOf(Redacted.make(privateKey))
    return pair.publicKey === publicKey.replaceAll("=", "") ? pair : undefined
  } catch {
    // Not on the curve.
    return undefined
  }
}
