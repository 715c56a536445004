import canonicalize from "canonicalize"
import { Result } from "effect"
import { hash } from "node:crypto"
import { momentOf } from "../../runtime/Moments.ts"
import { asForeign, asList, type Foreign } from "./ForeignValues.ts"
import { multibaseBytes } from "./Multibase.ts"

/*
 * Object integrity proofs of FEP-8b32, with the cryptosuite eddsa-jcs-2022 (Data Integrity EdDSA Cryptosuites section
 * 3.3).
 */

/** Maximum proofs of one document that are tried. */
const proofsMax = 3
const signatureBytes = 64

/** A well-formed proof. Nothing is verified yet. */
export interface IntegrityProof {
  /** Id of the key, which the author lists as its `assertionMethod`. */
  readonly keyId: string
  /** Stated creation and expiry, in milliseconds since 1970. */
  readonly createdMillis: number
  readonly expiresMillis: number | undefined
  readonly signature: Uint8Array
  /**
   * Returns the byte sequences that may have been signed: some implementations hash a proof with the document's
   * context. Takes milliseconds for a large document.
   */
  readonly forms: () => ReadonlyArray<Uint8Array>
}

/** Returns the canonical form (RFC 8785); undefined if there is no such form, as with a lone surrogate. */
export const canonicalText = (value: unknown): string | undefined =>
  Result.getOrUndefined(Result.try(() => canonicalize(value)))

const digestOf = (value: unknown): Uint8Array | undefined => {
  const text = canonicalText(value)
  return text === undefined ? undefined : hash("sha256", text, "buffer")
}

/** Returns true if `context` is a prefix of the document's context. */
const isPrefix = (context: unknown, whole: unknown): boolean => {
  const [part, all] = [asList(context), asList(whole)]
  return part.every((member, place) => canonicalText(member) === canonicalText(all[place]))
}

const formsOf = (options: Foreign, document: Foreign): ReadonlyArray<Uint8Array> => {
  const [own, documentContext] = [options["@context"], document["@context"]]
  if (own !== undefined && !isPrefix(own, documentContext)) return []
  const ofDocument = digestOf(own === undefined ? document : { ...document, "@context": own })
  const signed = own === undefined ? [options, { ...options, "@context": documentContext }] : [options]
  return signed.flatMap((one) => {
    const ofOptions = digestOf(one)
    return ofOptions === undefined || ofDocument === undefined ? [] : Buffer.concat([ofOptions, ofDocument])
  })
}

const proofOf = (proof: Foreign, document: Foreign): IntegrityProof | undefined => {
  const { proofValue, ...options } = proof
  const { created, cryptosuite, expires, proofPurpose, type, verificationMethod: keyId } = options
  const [createdMillis, expiresMillis] = [momentOf(created), momentOf(expires)]
  const signature = multibaseBytes(proofValue)
  const isKnown = type === "DataIntegrityProof" && cryptosuite === "eddsa-jcs-2022" &&
    proofPurpose === "assertionMethod"
  if (!isKnown || typeof keyId !== "string" || signature?.byteLength !== signatureBytes) return undefined
  // A proof with an unreadable expiry is refused: its expiry could not be enforced.
  if (createdMillis === undefined || (expires !== undefined && expiresMillis === undefined)) return undefined
  return { keyId, createdMillis, expiresMillis, signature, forms: () => formsOf(options, document) }
}

/**
 * Returns the usable proofs in a parsed document, whose size `BoundedJson` has bounded. Proofs of another kind or
 * without a creation time are left out.
 */
export const integrityProofs = (document: Foreign): ReadonlyArray<IntegrityProof> => {
  if (document["proof"] === undefined) return []
  const { proof, ...unsecured } = document
  return asList(proof).slice(0, proofsMax).flatMap((one) => {
    const given = asForeign(one)
    return (given && proofOf(given, unsecured)) ?? []
  })
}
