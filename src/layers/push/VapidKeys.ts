import { Effect, Redacted } from "effect"
import { createECDH } from "node:crypto"

const curve = "prime256v1"

/** A private key of the server for web push, as base64url (RFC 8292 section 3.1). */
export const makePrivateKey = Effect.sync(() => {
  const pair = createECDH(curve)
  pair.generateKeys()
  return pair.getPrivateKey("base64url")
})

/** The pair of a private key. */
export const pairOf = (privateKey: Redacted.Redacted<string>) => {
  const pair = createECDH(curve)
  pair.setPrivateKey(Redacted.value(privateKey), "base64url")
  return { publicKey: pair.getPublicKey("base64url"), privateKey }
}
