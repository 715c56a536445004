import { Clock, Context, Effect, Layer, type Result, Schema } from "effect"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import * as Cavage from "./Cavage.ts"
import { KeyOperations } from "./KeyOperations.ts"
import * as MessageSignatures from "./MessageSignatures.ts"
import { type Claim, type SignedRequest, Unverified } from "./SignedRequest.ts"

/** Signature scheme of requests: the draft that the fediverse began with, or RFC 9421. */
export const Scheme = Schema.Literals(["draft-cavage", "rfc9421"])
export type Scheme = typeof Scheme.Type

/** Signing key: its public id, and the private key as PEM. */
export interface SigningKey {
  readonly keyId: string
  readonly privatePem: string
}

/** Signs outgoing requests and verifies incoming ones, in both schemes, with RSA (SHA-256) and Ed25519. */
export class Signatures extends Context.Service<Signatures, {
  /**
   * Returns the key that a request claims. Makes all checks that need no key: covered components, time, host and body.
   */
  readonly claim: (request: SignedRequest) => Effect.Effect<Claim, Unverified>
  /** Returns true if this key's private half made the claim's signature. */
  readonly isValid: (claim: Claim, publicPem: string) => Effect.Effect<boolean>
  /** Returns the headers of a signed request. They include `headers`, which only the older scheme signs. */
  readonly sign: (
    scheme: Scheme,
    key: SigningKey,
    request: Pick<Cavage.ToSign, "method" | "url" | "headers" | "body">
  ) => Effect.Effect<Readonly<Record<string, string>>>
}>()("murmuration/services/federation/signatures/Signatures") {
  static readonly layer = Layer.effect(
    Signatures,
    Effect.gen(function*() {
      const origin = new URL((yield* ServerConfig).publicUrl)
      const keys = yield* KeyOperations

      const claimed = (request: SignedRequest, now: number): Result.Result<Claim, Unverified> =>
        request.headers["signature-input"] === undefined
          ? Cavage.claim(request, origin, now)
          : MessageSignatures.claim(request, origin, now)

      return Signatures.of({
        claim: traced("Signatures.claim")(function*(request: SignedRequest) {
          if (request.headers["signature"] === undefined) {
            return yield* new Unverified({ text: "Request not signed", malformed: false })
          }
          return yield* Effect.fromResult(claimed(request, yield* Clock.currentTimeMillis))
        }),
        isValid: traced("Signatures.isValid")(function*({ algorithm, base, signature, variants }, publicPem) {
          for (const form of [base, ...variants]) {
            if (yield* keys.verify(publicPem, algorithm, form, signature)) return true
          }
          return false
        }),
        sign: traced("Signatures.sign")(function*(scheme: Scheme, key: SigningKey, request) {
          const now = yield* Clock.currentTimeMillis
          const given = { ...request, keyId: key.keyId, now }
          const { base, headers } = scheme === "rfc9421" ? MessageSignatures.toSign(given) : Cavage.toSign(given)
          return headers(yield* Effect.orDie(keys.sign(key.privatePem, base)))
        })
      })
    })
  )
}
