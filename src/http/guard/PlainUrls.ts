/** Matches paths that have a plainer form: with escapes, doubled slashes, or characters at which the router ends them. */
const notPlain = /[%;#]|\/\//
/** Returns true for URLs that may have a plainer form: absolute ones, and those with such paths. */
const mayBePlainer = (url: string): boolean => {
  if (!url.startsWith("/") && !url.startsWith("*")) return true
  const at = url.indexOf("?")
  return notPlain.test(at === -1 ? url : url.slice(0, at))
}
/** Scheme and authority of a request in absolute form (RFC 9112, section 3.2.2). */
const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
/** Returns path and query of a URL in absolute form as the server's framework reads them; it resolves dot segments. */
const local = (url: string): string => {
  const found = /^https?:\/\//i.test(url) ? URL.parse(url) : null
  return found === null ? url.replace(authority, "") : found.pathname + found.search
}

/** Replaces null bytes in paths, which Postgres cannot compare with anything: U+FFFD, which no id or name has. */
const replacement = "%EF%BF%BD"
const malformed = /%(?![0-9a-f]{2})/i
const escape = /%[0-9a-f]{2}/gi
/** Unreserved characters, and `@`, which a path means literally in either form and which begins paths of profiles. */
const plain = /^[\w.~@-]$/

const decoded = (escaped: string): string => {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return plain.test(character) ? character : escaped
}

const plainPath = (path: string): string =>
  // Malformed paths are not found anyway; partial decoding could make them well-formed.
  malformed.test(path) ? path : path.replaceAll(escape, decoded).replaceAll(";", "%3B").replaceAll("#", "%23")
    .replaceAll("%00", replacement).replaceAll(/\/{2,}/g, "/")

/** Removes null bytes from the query, because Postgres cannot store them. Repeats, as `%0%000` becomes `%00`. */
const withoutNulls = (url: string): string => {
  const at = url.indexOf("?")
  if (at === -1) return url
  let query = url.slice(at)
  while (query.includes("%00")) query = query.replaceAll("%00", "")
  return url.slice(0, at) + query
}

/**
 * Normalises a request's URL: removes the host and doubled slashes; decodes escapes of unreserved characters (RFC 3986,
 * section 6.2.2.2) and of `@`; replaces null bytes of the path, and removes those of the query outside of the API, which
 * refuses them. The router decodes paths, and ends them at `;` and `#`. All other code that decides by a path reads it as
 * text, so it must see the same form.
 */
export const plainUrl = (given: string): string => {
  const url = given.includes("%00") && !given.startsWith("/api/") ? withoutNulls(given) : given
  if (!mayBePlainer(url)) return url
  const target = local(url)
  const at = target.indexOf("?")
  const path = plainPath(at === -1 ? target : target.slice(0, at))
  return (path === "" ? "/" : path) + (at === -1 ? "" : target.slice(at))
}

/** Returns path and query of a request as they were sent, which is the form that signatures cover. */
export const sentTarget = (originalUrl: string): string => originalUrl.replace(authority, "")
