/** Out-of-band URI: the code is shown on a page and copied by hand. */
export const outOfBand = "urn:ietf:wg:oauth:2.0:oob"

/** Maximum characters of all redirect URIs of an app together. */
const redirectUrisCharactersMax = 2_000

/** Maximum URIs that are read: more have too many characters, as each has one and a separator. */
const redirectUrisMax = redirectUrisCharactersMax / 2 + 1

/** Splits texts into URIs at spaces, up to more than an app may have. */
export const split = (texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found: Array<string> = []
  for (const text of texts) {
    if (found.length >= redirectUrisMax) break
    found.push(...text.split(/\s+/, redirectUrisMax + 1).filter((uri) => uri !== ""))
  }
  return found
}

/** Schemes that a browser would run or show as our content instead of leaving. */
const forbidden = new Set([
  "data:",
  "vbscript:",
  "javascript:",
  "blob:",
  "filesystem:",
  "file:",
  "about:",
  "view-source:"
])

/** Printable ASCII, as the URI is sent unchanged in a header. */
const plain = /^[\x21-\x7e]+$/

/** Hosts that a Content-Security-Policy can contain: `;` and `,` would end a directive or a policy. */
const namedHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i

/** Returns the problem of a redirect URI in the words of Mastodon's errors; undefined if it is valid. */
export const problem = (uri: string): string | undefined => {
  if (uri === outOfBand) return undefined
  if (!plain.test(uri)) return "must be a valid URI."
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri)) return "must be an absolute URI."
  if (!URL.canParse(uri)) return "must be a valid URI."
  if (uri.includes("#")) return "cannot contain a fragment."
  const { hostname, protocol } = new URL(uri)
  if ((protocol === "http:" || protocol === "https:") && !namedHost.test(hostname)) return "must be a valid URI."
  return forbidden.has(protocol) ? "is forbidden by the server." : undefined
}

/** Returns the problems of an app's redirect URIs; those of single ones only if they are not too many. */
export const problemsOf = (uris: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (uris.length === 0) return ["Redirect URI can't be blank"]
  return uris.join("\n").length > redirectUrisCharactersMax
    ? [`Redirect URI is too long (maximum is ${redirectUrisCharactersMax} characters)`]
    : [...new Set(uris.flatMap((uri) => problem(uri) ?? []))].map((text) => `Redirect URI ${text}`)
}

/** Scheme, host, port and the rest of a web URL, as written. */
const webAddress = /^(https?):\/\/([^/?#@\\:[\]]+|\[[0-9a-f:.]+\])(:\d+)?(|[/?].*)$/s
const loopback = new Set(["127.0.0.1", "[::1]"])

/**
 * Normalises a URI for comparison: host names ignore case, and an empty path is `/`. The port of a native app's
 * loopback listener is ignored, as the app chooses it at start (RFC 8252 section 7.3). All other parts must be
 * identical (RFC 9700 section 4.1).
 */
const comparable = (uri: string): string => {
  const [, scheme = "", host = "", port = "", rest = ""] = webAddress.exec(uri) ?? []
  if (host === "") return uri
  const plainHost = host.toLowerCase()
  const comparedPort = scheme === "http" && loopback.has(plainHost) ? "" : port
  return `${scheme}://${plainHost}${comparedPort}${rest === "" ? "/" : rest}`
}

/** Returns true if a request's URI is registered, compared by `comparable`. */
export const isRegistered = (registered: ReadonlyArray<string>, used: string): boolean =>
  problem(used) === undefined && registered.some((uri) => uri === used || comparable(uri) === comparable(used))

/** Returns the URI with `parameters` added to its query or fragment. */
export const withParameters = (
  uri: string,
  parameters: ReadonlyArray<readonly [name: string, value: string | undefined]>,
  place: "query" | "fragment" = "query"
): string => {
  const added = new URLSearchParams()
  for (const [name, value] of parameters) if (value !== undefined) added.set(name, value)
  if (place === "fragment") return `${uri}#${added}`
  return `${uri}${uri.includes("?") ? "&" : "?"}${added}`
}

/**
 * Returns the source that a form's Content-Security-Policy must allow to redirect to this URI. Browsers check
 * `form-action` on every redirect, and an app's own scheme is not covered by default.
 */
export const formTarget = (uri: string): string | undefined => {
  if (problem(uri) !== undefined || uri === outOfBand) return undefined
  const { host, origin, protocol } = new URL(uri)
  // A policy cannot express an IPv6 address, so the scheme alone is allowed.
  return (protocol === "http:" || protocol === "https:") && !host.startsWith("[") ? origin : protocol
}
