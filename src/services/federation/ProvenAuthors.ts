import { Clock, Context, Effect, Layer } from "effect"
import { traced } from "../runtime/Traced.ts"
import { type Foreign, idOf } from "./documents/ForeignValues.ts"
import { canonicalText, type IntegrityProof, integrityProofs } from "./documents/IntegrityProof.ts"
import { type Sender, SenderKeys } from "./SenderKeys.ts"
import { KeyOperations } from "./signatures/KeyOperations.ts"
import { lifetimeMillisMax, skewMillisMax } from "./signatures/SignedRequest.ts"

/** Maximum seconds a document waits for a key; after that it is fetched from its origin. */
const keySecondsMax = 5

/** Author of a verified proof, and its time in milliseconds since 1970. */
interface Proven extends Sender {
  readonly signedMillis: number
  /** Canonical text that was proven, without its proofs. */
  readonly text: string
}

/**
 * Returns true while a proof is valid: as long as a request signature may be, because later changes are only remembered
 * that long.
 */
const isCurrent = ({ createdMillis, expiresMillis }: IntegrityProof, now: number): boolean =>
  createdMillis <= now + skewMillisMax && now <= createdMillis + lifetimeMillisMax + skewMillisMax &&
  (expiresMillis === undefined || now <= expiresMillis)

/** Verifies the author's proof on a document that another server forwarded (FEP-8b32). */
export class ProvenAuthors extends Context.Service<ProvenAuthors, {
  /**
   * Returns the account that `field` names, if one of the document's proofs verifies with that account's key. Otherwise
   * returns undefined, and the document counts as unsigned. `address` is the requester's.
   */
  readonly of: (
    document: Foreign,
    field: "actor" | "attributedTo",
    address?: string
  ) => Effect.Effect<Proven | undefined>
}>()("murmuration/services/federation/ProvenAuthors") {
  static readonly layerNoDeps = Layer.effect(
    ProvenAuthors,
    Effect.gen(function*() {
      const keys = yield* KeyOperations
      const senders = yield* SenderKeys

      const verified = Effect.fnUntraced(function*(proof: IntegrityProof, author: string, address: string | undefined) {
        const { createdMillis, keyId, signature } = proof
        // A key of another origin cannot be the author's, so it is not fetched.
        if (URL.parse(keyId)?.origin !== URL.parse(author)?.origin) return undefined
        const forms = proof.forms()
        const isSignedBy = Effect.fnUntraced(function*(publicPem: string) {
          for (const form of forms) {
            if (yield* keys.verify(publicPem, "ed25519", form, signature)) return true
          }
          return false
        })
        const sender = yield* Effect.orElseSucceed(
          senders.find({ keyId, isSignedBy: isSignedBy, address, secondsMax: keySecondsMax }),
          () => undefined
        )
        // Rounded down to seconds, like request signatures: an Undo may be signed within the same second.
        const signedMillis = createdMillis - createdMillis % 1_000
        return sender?.uri === author ? { ...sender, signedMillis } : undefined
      })

      return ProvenAuthors.of({
        of: traced("ProvenAuthors.of")(function*(document, field, address) {
          const author = idOf(document[field])
          if (author === undefined) return undefined
          const now = yield* Clock.currentTimeMillis
          for (const proof of integrityProofs(document)) {
            // Each proof takes milliseconds for a large document; other fibers run in between.
            yield* Effect.yieldNow
            const proven = isCurrent(proof, now) ? yield* verified(proof, author, address) : undefined
            if (proven === undefined) continue
            yield* Effect.yieldNow
            const { proof: _, ...unsecured } = document
            const text = canonicalText(unsecured)
            return text === undefined ? undefined : { ...proven, text }
          }
          return undefined
        })
      })
    })
  )
  static readonly layer = ProvenAuthors.layerNoDeps.pipe(Layer.provide(SenderKeys.layer))
}
