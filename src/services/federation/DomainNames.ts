import { getPublicSuffix } from "tldts"

/** Domain of unconfirmed handles. It cannot exist, so it misleads no reader. */
export const unknownDomain = "handle.invalid"

/** Maximum characters of a domain name (RFC 1035 section 2.3.4) with a port. */
const domainCharactersMax = 259

/** Label of a host name in ASCII (RFC 1123 section 2.1); also with underscores, which some servers have. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Returns a domain in its stored form: lower case, A-labels, and no default port. Returns undefined for text that
 * cannot be a host name (row 13).
 */
export const normalizeDomain = (text: string): string | undefined => {
  if (text.length > domainCharactersMax || !/^[^\s/\\?#@%]+$/.test(text)) return undefined
  const url = URL.parse(`https://${text}`)
  if (url === null || url.pathname !== "/" || url.username !== "") return undefined
  if (url.hostname.startsWith("[")) return url.host
  const labels = url.hostname.split(".")
  const named = labels.length > 1 || url.hostname === "localhost"
  return named && labels.every((part) => label.test(part)) ? url.host : undefined
}

/**
 * Returns true for a suffix below which anyone can register a name: `co.uk`, `github.io` (publicsuffix.org with its
 * private part).
 */
export const isPublicSuffix = (domain: string): boolean =>
  domain !== "localhost" &&
  getPublicSuffix(domain, { allowPrivateDomains: true }) === domain

/** Parses `name@domain`, with an optional @ or `acct:` before it. Normalises the domain; keeps the name as written. */
export const parseHandle = (text: string): { readonly username: string; readonly domain: string } | undefined => {
  const [, username = "", written = ""] = /^(?:acct:)?@?([\w.-]{1,2048})@([^@\s]+)$/i.exec(text.trim()) ?? []
  const domain = normalizeDomain(written)
  return username === "" || domain === undefined ? undefined : { username, domain }
}
