/** The out-of-band address: the code is shown on a page and copied by hand. */
export const outOfBand = "urn:ietf:wg:oauth:2.0:oob"

/** All addresses of one app together, in characters. */
export const redirectUrisCharactersMax = 2_000

/** Schemes with which a browser would run or show something in our name instead of leaving. */
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

/** Printable ASCII: an address is sent in a header as it stands. */
const plain = /^[\x21-\x7e]+$/

/** Hosts that a Content-Security-Policy can name: `;` and `,` would end a directive or a policy of ours. */
const namedHost = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i

/** The problem of an address that an app registers, in the words of Mastodon's errors; undefined when it is good. */
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

/** Scheme, host, port, and the path with the query, as they were written. */
const webAddress = /^(https?):\/\/([^/?#@\\:[\]]+|\[[0-9a-f:.]+\])(:\d+)?(|[/?].*)$/s
const loopback = new Set(["127.0.0.1", "[::1]"])

/**
 * The form in which addresses are compared: hosts have no case, and no path is `/`. The port of a native app's
 * listener on loopback is chosen when it starts (RFC 8252 section 7.3). Nothing else that looks alike is equal (RFC 9700
 * section 4.1).
 */
const comparable = (uri: string): string => {
  const [, scheme = "", host = "", port = "", rest = ""] = webAddress.exec(uri) ?? []
  if (host === "") return uri
  const plainHost = host.toLowerCase()
  const kept = scheme === "http" && loopback.has(plainHost) ? "" : port
  return `${scheme}://${plainHost}${kept}${rest === "" ? "/" : rest}`
}

/** True where a request's address is a registered one, compared as `comparable` says. */
export const isRegistered = (registered: ReadonlyArray<string>, used: string): boolean =>
  problem(used) === undefined && registered.some((uri) => uri === used || comparable(uri) === comparable(used))

/** Where a browser is sent: `parameters` added to an app's address, in its query or its fragment. */
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
 * The source that a Content-Security-Policy must allow for a form whose answer leads to this address: browsers check
 * `form-action` against every redirect, and an app's own scheme is none of ours.
 */
export const formTarget = (uri: string): string | undefined => {
  if (problem(uri) !== undefined || uri === outOfBand) return undefined
  const { host, origin, protocol } = new URL(uri)
  // A policy has no way to write an IPv6 address.
  return (protocol === "http:" || protocol === "https:") && !host.startsWith("[") ? origin : protocol
}
