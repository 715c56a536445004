import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isProbe, probeHeader, type SeenRequest } from "../../services/instance/ProxyProbes.ts"
import { softwareVersion } from "../../services/instance/Software.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"
import { acceptsPage } from "../html/Browsers.ts"
import { html } from "../html/Html.ts"
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

/**
 * `/health`: reports that the process responds, to monitors as text and to people on a page. It checks no dependency.
 * The operator's doctor gets its request as it arrived, to check the reverse proxy.
 */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const pages = yield* PublicPages
  const { signingKey } = yield* Secrets

  const page = Effect.flatMap(pages.reader, ({ server, way, words: { say }, words }) =>
    pages.respond({
      words,
      title: say("{server} is running", { server }),
      body: html`<p>${
        say("The server responds. It runs {software}.", { software: `Murmuration ${softwareVersion}` })
      }</p>
<p><a href="${way("/about")}">${say("About this server")}</a></p>`
    }))

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
