import type { Visit } from "./Visit.ts"

const policyOf = (media: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${media} data:`,
    `media-src ${media}`,
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Returns the headers of a page; `media` are the sources of its pictures, for the content security policy. */
export const pageHeaders = (
  { reader: { words }, session }: Visit,
  status: number,
  media: string
): Record<string, string> => ({
  "cache-control": session === undefined && status === 200 ? "public, max-age=60" : "private, no-store",
  "content-language": words.tag,
  "content-security-policy": policyOf(media),
  "referrer-policy": "same-origin",
  vary: "Accept, Accept-Language, Cookie",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
})
