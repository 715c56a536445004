import canonicalize from "canonicalize"
import { generateKeyPairSync, hash, type KeyObject, sign } from "node:crypto"

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/** Encodes bytes as multibase, in base58. */
const multibase = (bytes: Uint8Array): string => {
  let text = ""
  for (let value = BigInt(`0x${Buffer.from(bytes).toString("hex")}`); value > 0n; value /= 58n) {
    text = alphabet[Number(value % 58n)] + text
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `z${"1".repeat(zeros)}${text}`
}

/** Creates an Ed25519 key of an actor, as its document lists it. */
export const ed25519 = (actor: string, name = "ed25519-key") => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32)
  const keyId = `${actor}#${name}`
  const method = {
    id: keyId,
    type: "Multikey",
    controller: actor,
    publicKeyMultibase: multibase(Buffer.concat([Buffer.from([0xed, 0x01]), raw]))
  }
  return { keyId, privateKey, method }
}

const digest = (value: unknown) => hash("sha256", canonicalize(value) ?? "", "buffer")

/** Returns a document with a proof (FEP-8b32); `more` changes the proof's options before signing. */
export const withProof = (
  document: Record<string, unknown>,
  { keyId, privateKey }: { readonly keyId: string; readonly privateKey: KeyObject },
  more: Record<string, unknown> = {}
) => {
  const options = {
    "@context": document["@context"],
    type: "DataIntegrityProof",
    cryptosuite: "eddsa-jcs-2022",
    verificationMethod: keyId,
    proofPurpose: "assertionMethod",
    created: new Date().toISOString(),
    ...more
  }
  const data = Buffer.concat([digest(options), digest(document)])
  return { ...document, proof: { ...options, proofValue: multibase(sign(null, data, privateKey)) } }
}
