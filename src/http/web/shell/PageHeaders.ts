import type { Visit } from "./Visit.ts"

const policyOf = (media: string, leadsAway: boolean): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${media} data:`,
    `media-src ${media}`,
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    // Browsers apply the policy of a form to the redirect that it leads to as well.
    leadsAway ? "form-action 'self' https:" : "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")

/**
 * Returns the headers of a page; `media` are the sources of its pictures, for the content security policy. A form of a
 * page that `leadsAway` may redirect to another server.
 */
export const pageHeaders = (
  { reader: { words }, session }: Visit,
  status: number,
  media: string,
  leadsAway = false
): Record<string, string> => ({
  "cache-control": session === undefined && status === 200 ? "public, max-age=60" : "private, no-store",
  "content-language": words.tag,
  "content-security-policy": policyOf(media, leadsAway),
  "referrer-policy": "same-origin",
  vary: "Accept, Accept-Language, Cookie",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
})
