/** Client routes, whose paths may be written in several ways; other paths (a signed inbox) are used as sent. */
const clients = /^\/+(?:api|oauth|auth|invites?|settings|unsubscribe|email_subscriptions|admin|disputes|web)(?:\/|$)/

/** Suffix by which Rails lets a client name the format; the API document's own name ends the same way. */
const format = /(?<!\/openapi)\.json$/

/** Normalises a client's path: no doubled slashes, no trailing slash, no `.json`. */
export const normalise = (path: string): string =>
  clients.test(path) ? path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "").replace(format, "") : path

/** Returns true if this path's parameters are parsed as those of clients. */
export const isClientPath = (path: string): boolean => clients.test(path)

/** Returns true for paths that take only small forms. */
export const isForPeople = (path: string): boolean =>
  /^\/(?:(?:oauth|auth|invite|settings)\/|unsubscribe$|invites(?:\/|$)|email_subscriptions\/)/.test(path)

/** Options of the router: paths are case-sensitive, as in Mastodon. */
export const routerConfig = { caseSensitive: true }
