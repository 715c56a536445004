import type { Redacted } from "effect"
import { Context, Effect, Layer } from "effect"
import { secretCipher } from "../secrets/Seals.ts"

/**
 * Encrypted access tokens. Push messages contain the token, by which apps find its account. Of all other tokens only
 * the hash is stored.
 */
export class SealedTokens extends Context.Service<SealedTokens, {
  readonly encrypt: (token: Redacted.Redacted) => Effect.Effect<Uint8Array>
  /** Decrypts a token; undefined if another key encrypted it. */
  readonly decrypt: (sealed: Uint8Array) => Redacted.Redacted | undefined
}>()("murmuration/services/push/SealedTokens") {
  static readonly layer = Layer.effect(
    SealedTokens,
    Effect.map(secretCipher("tokens of push subscriptions"), SealedTokens.of)
  )
}
