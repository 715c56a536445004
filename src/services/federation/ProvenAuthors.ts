import { Clock, Context, Effect, Layer } from "effect"
import { traced } from "../Traced.ts"
import { canonicalText, type IntegrityProof, integrityProofs } from "./documents/IntegrityProof.ts"
import { type Foreign, idOf } from "./documents/Reading.ts"
import { type Sender, SenderKeys } from "./SenderKeys.ts"
import { KeyOperations } from "./signatures/KeyOperations.ts"
import { lifetimeMillisMax, skewMillisMax } from "./signatures/SignedRequest.ts"

/** Seconds that a document waits for a key; after them it is fetched from its origin instead. */
const keySecondsMax = 5

/** An author who proved a document, and when, in milliseconds since 1970. */
interface Proven extends Sender {
  readonly signedMillis: number
  /** What was proven, in the one spelling that it has, without its proofs. */
  readonly text: string
}

/** True while a proof counts: as long as a signature of a request may, so that it is known what came meanwhile. */
const isCurrent = ({ createdMillis, expiresMillis }: IntegrityProof, now: number): boolean =>
  createdMillis <= now + skewMillisMax && now <= createdMillis + lifetimeMillisMax + skewMillisMax &&
  (expiresMillis === undefined || now <= expiresMillis)

/** Finds out whether an author signed a document that somebody else handed on (FEP-8b32). */
export class ProvenAuthors extends Context.Service<ProvenAuthors, {
  /**
   * The account that `field` of the document names, where one of its proofs holds by a key of that account. Undefined
   * where none does: such a document is worth as much as one without a proof. `address` is the requester's.
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
        // A key of another origin cannot be the author's, so that nobody is asked for it.
        if (URL.parse(keyId)?.origin !== URL.parse(author)?.origin) return undefined
        const forms = proof.forms()
        const holds = Effect.fnUntraced(function*(publicPem: string) {
          for (const form of forms) {
            if (yield* keys.verify(publicPem, "ed25519", form, signature)) return true
          }
          return false
        })
        const sender = yield* Effect.orElseSucceed(
          senders.find({ keyId, holds, address, secondsMax: keySecondsMax }),
          () => undefined
        )
        // In whole seconds, as signatures of requests have them: what undoes it may be signed within the same one.
        const signedMillis = createdMillis - createdMillis % 1_000
        return sender?.uri === author ? { ...sender, signedMillis } : undefined
      })

      return ProvenAuthors.of({
        of: traced("ProvenAuthors.of")(function*(document, field, address) {
          const author = idOf(document[field])
          if (author === undefined) return undefined
          const now = yield* Clock.currentTimeMillis
          for (const proof of integrityProofs(document)) {
            // Each takes milliseconds of a large document; others get their turn.
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
