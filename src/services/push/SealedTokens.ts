import { Context, Effect, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto"
import { Secrets } from "../instance/Secrets.ts"

const algorithm = "aes-256-gcm"
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * Access tokens that have to be told to their apps again, in messages by which these know whose they are, and what webhooks are
 * signed with: of all others the hash alone is kept. Readable with the server's own key, which is not in the database's tables of tokens.
 */
export class SealedTokens extends Context.Service<SealedTokens, {
  readonly seal: (token: Redacted.Redacted) => Effect.Effect<Uint8Array>
  /** Undefined where it was sealed with another key. */
  readonly open: (sealed: Uint8Array) => Redacted.Redacted | undefined
}>()("murmuration/services/push/SealedTokens") {
  static readonly layer = Layer.effect(
    SealedTokens,
    Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const { signingKey } = yield* Secrets
      const key = new Uint8Array(
        hkdfSync("sha256", Redacted.value(signingKey), "", "tokens of push subscriptions", keyBytes)
      )
      return SealedTokens.of({
        seal: Effect.fnUntraced(function*(token: Redacted.Redacted) {
          const nonce = yield* random.randomBytes(nonceBytes)
          const cipher = createCipheriv(algorithm, key, nonce)
          const text = Buffer.concat([cipher.update(Redacted.value(token), "utf8"), cipher.final()])
          return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), text]))
        }),
        open: (sealed) =>
          Result.getOrElse(
            Result.try(() => {
              const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes))
              decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
              const text = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
              return Redacted.make(text.toString("utf8"))
            }),
            () => undefined
          )
      })
    })
  )
}
