import type { Headers } from "effect/http"

/**
 * Returns true if the client already has the version with this tag: `If-None-Match`, compared weakly (RFC 9110,
 * 13.1.2).
 */
export const isKnown = (headers: Headers.Headers, tag: string): boolean => {
  const header = headers["if-none-match"]
  if (header === undefined) return false
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag)
}
