import { isStreaming } from "./Handshake.ts"

/** A path that has another form: an absolute one, escapes, what the router takes for the end of a path, or doubled slashes. */
const mayBePlainer = /^(?![/*])|^[^?]*?(?:[%;#]|\/\/)/
/** Scheme and authority of a request in absolute form (RFC 9112, section 3.2.2). */
const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
const malformed = /%(?![0-9a-f]{2})/i
const escape = /%[0-9a-f]{2}/gi
const unreserved = /^[\w.~-]$/

const decoded = (escaped: string): string => {
  const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
  return unreserved.test(character) ? character : escaped
}

const plainPath = (path: string): string =>
  // What is malformed leads nowhere; decoded in part it could become well-formed.
  malformed.test(path) ? path : path.replaceAll(escape, decoded).replaceAll(";", "%3B").replaceAll("#", "%23")
    .replaceAll(/\/{2,}/g, "/")

/**
 * The one form of a request's address: its path without escapes of unreserved characters (RFC 3986, section 6.2.2.2), host and
 * doubled slashes. The router decodes paths, and ends them at `;` and `#`; whatever else decides by a path reads it as
 * text, so that it has to have the same form.
 */
export const plainUrl = (url: string): string => {
  if (!mayBePlainer.test(url)) return url
  const local = url.replace(authority, "")
  const at = local.indexOf("?")
  const path = plainPath(at === -1 ? local : local.slice(0, at))
  return (path === "" ? "/" : path) + (at === -1 ? "" : local.slice(at))
}

/** Path and query of a request as they were sent: what a signature is about. */
export const sentTarget = (originalUrl: string): string => originalUrl.replace(authority, "")

/** Returns whether only the plain form of an address leads to streams: Node did not see that a WebSocket is asked for. */
export const isHiddenStream = (url: string): boolean => !isStreaming(url) && isStreaming(plainUrl(url))
