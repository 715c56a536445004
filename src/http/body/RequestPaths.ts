/** Routes of clients, for which a path may be written in more than one way; others (a signed inbox) stand as sent. */
const clients = /^\/+(?:api|oauth|auth|invite|settings|unsubscribe|email_subscriptions|admin|disputes)(?:\/|$)/

/** Rails lets a client name the format it wants; the document about the API itself is called that. */
const format = /(?<!\/openapi)\.json$/

/** A client's path in its one form: no doubled slashes, no slash at the end, no `.json`. */
export const normalise = (path: string): string =>
  clients.test(path) ? path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "").replace(format, "") : path

/** Whether parameters of a request to this path are read as clients send them. */
export const isClients = (path: string): boolean => clients.test(path)

/** Where no app sends more than a form's few fields. */
export const isForPeople = (path: string): boolean =>
  /^\/(?:(?:oauth|auth|invite|settings)\/|unsubscribe$|email_subscriptions\/)/.test(path)

/** What the router itself makes of a path: it tells `/API` from `/api`, as Mastodon does. */
export const routerConfig = { caseSensitive: true }
