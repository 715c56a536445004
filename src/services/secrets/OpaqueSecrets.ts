import { Context, Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"

/** Random bytes of every secret: tokens, codes, client secrets, sessions, links in mails. */
const secretBytes = 32

const utf8 = new TextEncoder()

/** Secrets of which only the SHA-256 is stored; secrets are looked up by it. */
export class OpaqueSecrets extends Context.Service<OpaqueSecrets, {
  /** New secret, 43 characters of base64url. */
  readonly make: Effect.Effect<Redacted.Redacted>
  readonly hash: (secret: Redacted.Redacted | string) => Effect.Effect<Uint8Array>
}>()("murmuration/services/secrets/OpaqueSecrets") {
  static readonly layer = Layer.effect(
    OpaqueSecrets,
    Effect.gen(function*() {
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest
      return OpaqueSecrets.of({
        make: Effect.map(random.randomBytes(secretBytes), (bytes) => Redacted.make(Base64Url.encode(bytes))),
        hash: (secret) =>
          digest.digest(Digest.sha256, utf8.encode(Redacted.isRedacted(secret) ? Redacted.value(secret) : secret))
      })
    })
  )
}
