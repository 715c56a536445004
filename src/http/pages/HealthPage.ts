import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isProbe, probeHeader, type SeenRequest } from "../../services/instance/ProxyProbes.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { softwareVersion } from "../../services/instance/Software.ts"
import { type Catalog, Catalogs } from "../../services/languages/Catalogs.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { acceptsPage } from "../html/Browsers.ts"
import { html } from "../html/Html.ts"
import { respond } from "../html/HtmlPage.ts"
import { requestedCatalog } from "../languages/RequestWishes.ts"
import { PublicPages } from "./PublicPages.ts"

const headers = { "cache-control": "private, no-store", vary: "Accept" }
const monitored = HttpServerResponse.text("OK", { headers })

/** Returns a request as it arrived. */
const seenOf = (request: HttpServerRequest.HttpServerRequest): typeof SeenRequest.Type => ({
  address: Option.getOrElse(request.remoteAddress, () => ""),
  peer: Option.getOrElse(request.peerAddress, () => ""),
  host: request.headers["host"] ?? "",
  forwardedFor: request.headers["x-forwarded-for"] ?? null,
  forwardedProto: request.headers["x-forwarded-proto"] ?? null
})

/** Time after which the page is sent without its frame, which needs the database. */
const frameMax = "2 seconds"

/** Returns the texts of the page; `about` is the path of the page about the server. */
const contentOf = ({ say }: Catalog, server: string, about: string) => ({
  title: say("{server} is running", { server }),
  body: html`<p>${say("The server responds. It runs {software}.", { software: `Murmuration ${softwareVersion}` })}</p>
<p><a href="${about}">${say("About this server")}</a></p>`
})

/**
 * `/health`: reports that the process responds, to monitors as text and to people on a page. It checks no dependency:
 * while the database does not respond, the page has no frame. The operator's doctor gets its request as it arrived, to
 * check the reverse proxy.
 */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const catalogs = yield* Catalogs
  const pages = yield* PublicPages
  const { localDomain: server } = yield* ServerConfig
  const { signingKey } = yield* Secrets

  const plain = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const words = requestedCatalog(catalogs, request)
    return respond({ words, server, ...contentOf(words, server, "/about") })
  })
  const page = Effect.flatMap(
    pages.reader,
    ({ server, way, words }) => pages.respond({ words, ...contentOf(words, server, way("/about")) })
  ).pipe(
    Effect.timeoutOrElse({ duration: frameMax, orElse: () => plain }),
    Effect.catchDefect(() => plain)
  )

  return HttpRouter.add(
    "GET",
    "/health",
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const probe = request.headers[probeHeader]
      if (probe !== undefined && isProbe(Redacted.value(signingKey), probe, yield* Clock.currentTimeMillis)) {
        return HttpServerResponse.jsonUnsafe(seenOf(request), { headers })
      }
      return acceptsPage(request.headers["accept"]) ? yield* page : monitored
    })
  )
}))
