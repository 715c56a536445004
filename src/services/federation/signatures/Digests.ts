import { hash } from "node:crypto"
import { dictionary } from "./StructuredFields.ts"

/** Cached per body: a body that is delivered to thousands of inboxes is the same object. */
const known = new WeakMap<Uint8Array, string>()

const sha256 = (body: Uint8Array) => {
  const before = known.get(body)
  if (before !== undefined) return before
  const computed = hash("sha256", body, "base64")
  known.set(body, computed)
  return computed
}

/** Returns a `Digest` header (RFC 3230), as draft-cavage signs it. */
export const digest = (body: Uint8Array): string => `SHA-256=${sha256(body)}`

/** Returns a `Content-Digest` header (RFC 9530), as RFC 9421 signs it. */
export const contentDigest = (body: Uint8Array): string => `sha-256=:${sha256(body)}:`

/** Returns true if all given SHA-2 digests match the body, and at least one is given. Each kind is computed once. */
const areOf = (digests: ReadonlyArray<readonly [name: string, base64: string]>, body: Uint8Array): boolean => {
  const given = (name: string) => new Set(digests.flatMap(([kind, base64]) => kind === name ? [base64] : []))
  const [short, long] = [given("sha-256"), given("sha-512")]
  const isOf = (kind: "sha256" | "sha512", found: ReadonlySet<string>) =>
    found.size === 0 || (found.size === 1 && found.has(hash(kind, body, "base64")))
  return short.size + long.size > 0 && isOf("sha256", short) && isOf("sha512", long)
}

/** `Digest` predates structured fields: it contains plain base64 between commas. */
export const isDigestOf = (header: string, body: Uint8Array): boolean =>
  areOf(
    header.split(",").map((member) => {
      const at = member.indexOf("=")
      return [member.slice(0, at).trim().toLowerCase(), member.slice(at + 1).trim()]
    }),
    body
  )

export const isContentDigestOf = (header: string, body: Uint8Array): boolean =>
  areOf(
    Array.from(
      dictionary(header) ?? [],
      ([name, [value]]) => [name, value instanceof ArrayBuffer ? Buffer.from(value).toString("base64") : ""]
    ),
    body
  )
