import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { preferred } from "../../services/languages/Negotiation.ts"
import { languagePreferencesOf } from "../languages/RequestWishes.ts"
import { acceptsPage } from "./Browsers.ts"
import { html } from "./Html.ts"
import { respond } from "./HtmlPage.ts"

/**
 * Returns the HTML page that replaces a rate limit's JSON for a browser (any route); undefined for any other response
 * or request. It looks up no session, because the request is over its limit. The limit's headers are kept.
 */
export const limitPage = (
  catalogs: ReadonlyMap<string, Catalog>,
  server: string,
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse | undefined => {
  const { headers, method } = request
  if (response.status !== 429 || !acceptsPage(headers["accept"]) || (method !== "GET" && method !== "HEAD")) {
    return undefined
  }
  const { body } = response
  if (body._tag !== "Uint8Array" || !body.contentType.startsWith("application/json")) return undefined
  const words = catalogs.get(preferred(catalogs.keys(), languagePreferencesOf(request)) ?? "en")
  if (words === undefined) return undefined
  const page = respond({
    words,
    title: words.say("Too many attempts"),
    server,
    status: 429,
    body: html`<p class="problem" role="alert">${
      words.say("Too many attempts from your network in a short time. Please wait a while and try again.")
    }</p>`
  })
  const { "content-length": _length, "content-type": _type, ...kept } = response.headers
  return HttpServerResponse.setHeaders(page, { ...kept, vary: "Accept, Accept-Language" })
}
