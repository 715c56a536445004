import { Context, Effect, Layer } from "effect"
import { traced } from "../runtime/Traced.ts"
import type { Crowded } from "./InboxSlots.ts"
import { type DomainClosed, type KeyUnavailable, type Sender, SenderKeys } from "./SenderKeys.ts"
import { Signatures } from "./signatures/Signatures.ts"
import type { SignedRequest, Unverified } from "./signatures/SignedRequest.ts"

/** Sender with a valid signature, and the time of signing in milliseconds since 1970. */
interface Verified extends Sender {
  readonly signedMillis: number
}

/** Identifies the signer of a request. Nothing in the request must be trusted before that. */
export class Senders extends Context.Service<Senders, {
  /**
   * Verifies a request. `keySecondsMax` is the maximum wait for an unknown key; fails with `KeyUnavailable` after it.
   */
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
            isSignedBy: (publicPem) => signatures.isValid(claim, publicPem),
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
