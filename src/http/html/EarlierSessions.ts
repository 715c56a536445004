import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** Cookie in which Mastodon keeps the session of a member. It remains in browsers when this server takes over the domain. */
const earlierCookie = "_session_id"

/** Returns true if the browser was signed in at the Mastodon server that had this domain before. */
export const hadSession = ({ cookies }: HttpServerRequest.HttpServerRequest): boolean => Boolean(cookies[earlierCookie])

/** Removes that cookie. */
export const forget = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, earlierCookie, "", { path: "/", maxAge: 0 })
