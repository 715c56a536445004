import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Catalog } from "../../services/languages/Catalogs.ts"
import { requestedCatalog } from "../languages/RequestWishes.ts"
import { acceptsPage } from "./Browsers.ts"
import { html } from "./Html.ts"
import { problem, respond } from "./HtmlPage.ts"

/** Maximum bytes of an error's JSON whose text a page shows. */
const errorBytesMax = 65_536

/** Returns the text of an error in JSON; undefined for any other response. */
const errorOf = ({ body, headers }: HttpServerResponse.HttpServerResponse): string | undefined => {
  if (body._tag !== "Uint8Array" || !body.contentType.startsWith("application/json")) return undefined
  if (body.body.length > errorBytesMax || headers["content-encoding"] !== undefined) return undefined
  const value: unknown = JSON.parse(new TextDecoder().decode(body.body))
  return typeof value === "object" && value !== null && "error" in value && typeof value.error === "string"
    ? value.error
    : undefined
}

/** Returns the title and the text of the page for an error. */
const textsOf = (
  { say, translate }: Catalog,
  status: number,
  error: string,
  hasFiles: boolean
): { readonly title: string; readonly text: string } => {
  switch (status) {
    case 429:
      return {
        title: say("Too many attempts"),
        text: say("Too many attempts from your network in a short time. Please wait a while and try again.")
      }
    case 404:
      return {
        title: say("Page not found"),
        text: say("This page does not exist any more, never existed, or is not public.")
      }
    default:
      return {
        title: say("This did not work"),
        text: status === 413 && hasFiles
          ? say("The files are too large for this server. Go back to your text, and choose smaller files.")
          : translate(error)
      }
  }
}

/**
 * Renders the HTML page that replaces an error's JSON for a browser, under the server's title; returns undefined for any
 * other response or request. Paths of the API keep their JSON, except for rate limits. It looks up no session, because
 * the request may be over its limit, or the database may not respond. The response's other headers are kept.
 */
export const errorPage = (
  catalogs: ReadonlyMap<string, Catalog>,
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): ((server: string) => HttpServerResponse.HttpServerResponse) | undefined => {
  const { headers, url } = request
  const { status } = response
  if (status < 400 || !acceptsPage(headers["accept"])) return undefined
  if (url.startsWith("/api/") && status !== 429) return undefined
  const error = errorOf(response)
  if (error === undefined) return undefined
  const words = requestedCatalog(catalogs, request)
  const { text, title } = textsOf(words, status, error, headers["content-type"]?.startsWith("multipart/") === true)
  const { "content-length": _length, "content-type": _type, ...otherHeaders } = response.headers
  return (server) => {
    const page = respond({
      words,
      title,
      server,
      status,
      body: html`${problem(text)}
<p><a href="/">${words.say("Back to the front page")}</a></p>`
    })
    return HttpServerResponse.setHeaders(page, { ...otherHeaders, vary: "Accept, Accept-Language" })
  }
}
