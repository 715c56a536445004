import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { softwareVersion } from "../../services/instance/Software.ts"
import { acceptsPage } from "../html/Browsers.ts"
import { html } from "../html/Html.ts"
import { PublicPages } from "./PublicPages.ts"

const monitored = HttpServerResponse.text("OK", { headers: { "cache-control": "private, no-store", vary: "Accept" } })

/** `/health`: reports that the process responds, to monitors as text and to people on a page. It checks no dependency. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const pages = yield* PublicPages

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
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => acceptsPage(headers["accept"]) ? page : Effect.succeed(monitored)
    )
  )
}))
