import { asForeign, asList, type Foreign, idOf } from "./ForeignValues.ts"
import { multibaseBytes } from "./Multibase.ts"

/** Maximum keys of one actor that are read. */
export const keysMax = 10

export interface ForeignKey {
  readonly keyId: string
  readonly publicPem: string
}

/** Maximum bytes of a key as PEM; an RSA key of 16,384 bits has 2,800. */
const pemBytesMax = 4_096

/** The bytes before the 32 bytes of an Ed25519 key in SPKI (RFC 8410 section 4). */
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex")

/** Returns an Ed25519 key in Multikey form (Controlled Identifiers section 2.2.2) as PEM. */
const ed25519Pem = (multibase: unknown): string | undefined => {
  const bytes = multibaseBytes(multibase)
  if (bytes?.byteLength !== 34 || bytes[0] !== 0xed || bytes[1] !== 0x01) return undefined
  const encoded = Buffer.concat([ed25519Prefix, bytes.subarray(2)]).toString("base64")
  return `-----BEGIN PUBLIC KEY-----\n${encoded}\n-----END PUBLIC KEY-----\n`
}

/**
 * Returns the keys that an actor lists as its own: of its origin, and with the actor as their owner (row 2). Does not
 * check that a PEM text is a valid key.
 */
export const foreignKeys = (actor: Foreign, id: URL): ReadonlyArray<ForeignKey> => {
  const own = (value: unknown, owner: "owner" | "controller", pemOf: (key: Foreign) => unknown) =>
    asList(value).slice(0, keysMax).flatMap((item): ReadonlyArray<ForeignKey> => {
      const key = asForeign(item)
      const [keyId, publicPem] = [idOf(key), key === undefined ? undefined : pemOf(key)]
      return key?.[owner] === id.href && typeof publicPem === "string" && publicPem.length <= pemBytesMax &&
          Buffer.byteLength(publicPem) <= pemBytesMax && !publicPem.includes("\0") &&
          keyId !== undefined && URL.parse(keyId)?.origin === id.origin
        ? [{ keyId, publicPem }]
        : []
    })
  return [
    ...own(actor["publicKey"], "owner", (key) => key["publicKeyPem"]),
    ...own(actor["assertionMethod"], "controller", (key) => ed25519Pem(key["publicKeyMultibase"]))
  ]
}
