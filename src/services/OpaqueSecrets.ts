import { Context, Effect, Layer, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"

/** Chance in every secret that we hand out: tokens, codes, client secrets, sessions, links in mails. */
const secretBytes = 32

const utf8 = new TextEncoder()

/** Secrets that only their bearer knows: we keep the SHA-256, by which they are looked up. */
export class OpaqueSecrets extends Context.Service<OpaqueSecrets, {
  /** A new one, 43 characters of base64url. */
  readonly make: Effect.Effect<Redacted.Redacted>
  readonly hash: (secret: Redacted.Redacted | string) => Effect.Effect<Uint8Array>
}>()("murmuration/services/OpaqueSecrets") {
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
