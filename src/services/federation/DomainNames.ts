/** The domain of a handle that nobody confirms: none at all, so that it misleads nobody. */
export const unknownDomain = "handle.invalid"

/** Characters of a domain name (RFC 1035 section 2.3.4) with a port. */
const domainCharactersMax = 259

/**
 * A domain as it is stored and compared: lower case, A-labels, a port only where it is not the usual one. Undefined for
 * a text that is anything besides a domain (row 13).
 */
export const normalizeDomain = (text: string): string | undefined => {
  if (text.length > domainCharactersMax || !/^[^\s/\\?#@%]+$/.test(text)) return undefined
  const url = URL.parse(`https://${text}`)
  if (url === null || url.pathname !== "/" || url.username !== "" || url.hostname.split(".").includes("")) {
    return undefined
  }
  return url.hostname.includes(".") || url.hostname.startsWith("[") || url.hostname === "localhost"
    ? url.host
    : undefined
}

/** `name@domain` with an @ or `acct:` before it, in its parts; the domain is normal, the name as it was written. */
export const parseHandle = (text: string): { readonly username: string; readonly domain: string } | undefined => {
  const [, username = "", written = ""] = /^(?:acct:)?@?([\w.-]{1,2048})@([^@\s]+)$/i.exec(text.trim()) ?? []
  const domain = normalizeDomain(written)
  return username === "" || domain === undefined ? undefined : { username, domain }
}
