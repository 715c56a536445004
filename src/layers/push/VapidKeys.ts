import { Effect, Redacted } from "effect"
import { createECDH } from "node:crypto"

const curve = "prime256v1"
const privateKeyBytes = 32

/** Node leaves a key's leading zeros away (one key in 256 has some); signers want all of its bytes. */
const whole = (key: Uint8Array) =>
  Buffer.concat([new Uint8Array(privateKeyBytes - key.length), key]).toString("base64url")

/** A private key of the server for web push, as base64url (RFC 8292 section 3.1). */
export const makePrivateKey = Effect.sync(() => {
  const pair = createECDH(curve)
  pair.generateKeys()
  return whole(pair.getPrivateKey())
})

/** The pair of a private key, which may be kept without its leading zeros. */
export const pairOf = (privateKey: Redacted.Redacted<string>) => {
  const pair = createECDH(curve)
  pair.setPrivateKey(Redacted.value(privateKey), "base64url")
  return { publicKey: pair.getPublicKey("base64url"), privateKey: Redacted.make(whole(pair.getPrivateKey())) }
}
