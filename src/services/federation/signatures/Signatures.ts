import { Clock, Context, Effect, Layer, type Result, Schema } from "effect"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../Traced.ts"
import * as Cavage from "./Cavage.ts"
import { KeyOperations } from "./KeyOperations.ts"
import * as MessageSignatures from "./MessageSignatures.ts"
import { type Claim, type SignedRequest, Unverified } from "./SignedRequest.ts"

/** How requests are signed: as the fediverse began, or by the standard. */
export const Scheme = Schema.Literals(["draft-cavage", "rfc9421"])
export type Scheme = typeof Scheme.Type

/** Who signs: the id by which others find the public key, and the private one as PEM. */
export interface SigningKey {
  readonly keyId: string
  readonly privatePem: string
}

/** Signs requests of ours and checks those of others; both kinds of HTTP signatures, RSA with SHA-256 and Ed25519. */
export class Signatures extends Context.Service<Signatures, {
  /**
   * The key that a request claims to be signed with; everything that needs no key is checked: what is signed, when, for
   * whom, the body.
   */
  readonly claim: (request: SignedRequest) => Effect.Effect<Claim, Unverified>
  /** Whether the claim was signed with the private half of this key. */
  readonly holds: (claim: Claim, publicPem: string) => Effect.Effect<boolean>
  /** The headers of a signed request; `headers` come with them and, in the older scheme, are signed too. */
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
        holds: traced("Signatures.holds")(function*({ algorithm, base, signature, variants }, publicPem) {
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
