import { hash } from "node:crypto"

/** A body that goes to thousands of inboxes is the same bytes each time. */
const known = new WeakMap<Uint8Array, string>()

const sha256 = (body: Uint8Array) => {
  const before = known.get(body)
  if (before !== undefined) return before
  const made = hash("sha256", body, "base64")
  known.set(body, made)
  return made
}

/** `Digest` of RFC 3230, as draft-cavage signs it. */
export const digest = (body: Uint8Array): string => `SHA-256=${sha256(body)}`

/** `Content-Digest` of RFC 9530, as RFC 9421 signs it. */
export const contentDigest = (body: Uint8Array): string => `sha-256=:${sha256(body)}:`

const members = (header: string) =>
  header.split(",").map((member) => {
    const at = member.indexOf("=")
    return [member.slice(0, at).trim().toLowerCase(), member.slice(at + 1).trim()] as const
  })

/** Every SHA-2 digest in the header is the body's, and there is one by SHA-256 or SHA-512. */
const isOf = (header: string, body: Uint8Array, form: (base64: string) => string): boolean => {
  const known = members(header).filter(([name]) => name === "sha-256" || name === "sha-512")
  return known.length > 0 &&
    known.every(([name, value]) => value === form(hash(name === "sha-256" ? "sha256" : "sha512", body, "base64")))
}

export const isDigestOf = (header: string, body: Uint8Array): boolean => isOf(header, body, (base64) => base64)

export const isContentDigestOf = (header: string, body: Uint8Array): boolean =>
  isOf(header, body, (base64) => `:${base64}:`)
