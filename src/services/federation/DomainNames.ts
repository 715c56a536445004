import { getPublicSuffix } from "tldts"

/** The domain of a handle that nobody confirms: none at all, so that it misleads nobody. */
export const unknownDomain = "handle.invalid"

/** Characters of a domain name (RFC 1035 section 2.3.4) with a port. */
const domainCharactersMax = 259

/** One label of a host name in ASCII (RFC 1123 section 2.1), or with underscores, as some servers have. */
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * A domain as it is stored and compared: lower case, A-labels, a port only where it is not the usual one. Undefined for
 * text that no host can be named (row 13).
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

/** True for a suffix below which anyone can register a name: `co.uk`, `github.io` (publicsuffix.org, private part included). */
export const isPublicSuffix = (domain: string): boolean =>
  domain !== "localhost" &&
  getPublicSuffix(domain, { allowPrivateDomains: true }) === domain

/** `name@domain` with an @ or `acct:` before it, in its parts; the domain is normal, the name as it was written. */
export const parseHandle = (text: string): { readonly username: string; readonly domain: string } | undefined => {
  const [, username = "", written = ""] = /^(?:acct:)?@?([\w.-]{1,2048})@([^@\s]+)$/i.exec(text.trim()) ?? []
  const domain = normalizeDomain(written)
  return username === "" || domain === undefined ? undefined : { username, domain }
}
