import { Effect, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto"
import { Secrets } from "./Secrets.ts"

const algorithm = "aes-256-gcm"
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts secrets that must be recovered; all others are stored as hashes only. The key is derived from the server's
 * signing key, which is not in the tables that hold the ciphertext; each purpose has its own key.
 */
export const secretCipher = Effect.fnUntraced(function*(purpose: string) {
  const random = yield* SecureRandom.SecureRandom
  const { signingKey } = yield* Secrets
  const key = new Uint8Array(hkdfSync("sha256", Redacted.value(signingKey), "", purpose, keyBytes))
  return {
    encrypt: Effect.fnUntraced(function*(text: Redacted.Redacted) {
      const nonce = yield* random.randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce)
      const sealed = Buffer.concat([cipher.update(Redacted.value(text), "utf8"), cipher.final()])
      return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), sealed]))
    }),
    /** Returns undefined if sealed with another key, or not sealed here. */
    decrypt: (sealed: Uint8Array): Redacted.Redacted | undefined =>
      Result.getOrElse(
        Result.try(() => {
          const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
          decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
          const text = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
          return Redacted.make(text.toString("utf8"))
        }),
        () => undefined
      )
  }
})
