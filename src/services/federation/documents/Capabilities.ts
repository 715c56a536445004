import type { Document } from "./Vocabulary.ts"

const rfc9421 = "https://datatracker.ietf.org/doc/html/rfc9421"

const capability = (href: string, name: string): Document => ({ type: "Link", href, name })

/** Standards that the server supports, for discovery (FEP-844e), including those that it only accepts. */
export const capabilities: ReadonlyArray<Document> = [
  capability(rfc9421, "RFC-9421: HTTP Message Signatures"),
  capability(`${rfc9421}#name-eddsa-using-curve-edwards25`, "RFC-9421 signatures using the Ed25519 algorithm"),
  capability("https://w3id.org/fep/044f", "FEP-044f: Consent-respecting quote posts"),
  capability("https://w3id.org/fep/7aa9", "FEP-7aa9: Featured collections"),
  capability("https://w3id.org/fep/8b32", "FEP-8b32: Object Integrity Proofs"),
  capability("https://w3id.org/fep/8fcf", "FEP-8fcf: Followers collection synchronization"),
  capability("https://w3id.org/fep/c0e0", "FEP-c0e0: Emoji reactions")
]
