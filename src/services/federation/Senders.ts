import { Context, Effect, Layer } from "effect"
import { traced } from "../Traced.ts"
import { type DomainClosed, type KeyUnavailable, type Sender, SenderKeys } from "./SenderKeys.ts"
import { Signatures } from "./signatures/Signatures.ts"
import type { SignedRequest, Unverified } from "./signatures/SignedRequest.ts"
import type { Crowded } from "./Strangers.ts"

/** A sender whose signature holds, and when that was made, in milliseconds since 1970. */
interface Verified extends Sender {
  readonly signedMillis: number
}

/** Finds out who signed a request; nothing of the request is believed before. */
export class Senders extends Context.Service<Senders, {
  /** `keySecondsMax` bounds the wait for a key that is not known here; `KeyUnavailable` after it. */
  readonly verify: (
    request: SignedRequest,
    keySecondsMax?: number
  ) => Effect.Effect<Verified, Unverified | KeyUnavailable | DomainClosed | Crowded>
}>()("murmuration/services/federation/Senders") {
  static readonly layerNoDeps = Layer.effect(
    Senders,
    Effect.gen(function*() {
      const keys = yield* SenderKeys
      const signatures = yield* Signatures
      return Senders.of({
        verify: traced("Senders.verify")(function*(request: SignedRequest, keySecondsMax?: number) {
          const claim = yield* signatures.claim(request)
          const sender = yield* keys.find({
            keyId: claim.keyId,
            holds: (publicPem) => signatures.holds(claim, publicPem),
            address: request.address,
            secondsMax: keySecondsMax
          })
          return { ...sender, signedMillis: claim.signedMillis }
        })
      })
    })
  )
  static readonly layer = Senders.layerNoDeps.pipe(Layer.provide([SenderKeys.layer, Signatures.layer]))
}
