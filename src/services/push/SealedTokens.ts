import type { Redacted } from "effect"
import { Context, Effect, Layer } from "effect"
import { sealsFor } from "../Seals.ts"

/**
 * Access tokens that have to be told to their apps again, in messages by which these know whose they are: of all others the hash
 * alone is kept.
 */
export class SealedTokens extends Context.Service<SealedTokens, {
  readonly seal: (token: Redacted.Redacted) => Effect.Effect<Uint8Array>
  /** Undefined where it was sealed with another key. */
  readonly open: (sealed: Uint8Array) => Redacted.Redacted | undefined
}>()("murmuration/services/push/SealedTokens") {
  static readonly layer = Layer.effect(
    SealedTokens,
    Effect.map(sealsFor("tokens of push subscriptions"), SealedTokens.of)
  )
}
