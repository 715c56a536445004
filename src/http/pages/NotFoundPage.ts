import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Reply from "../guard/Reply.ts"
import { acceptsPage } from "../html/Browsers.ts"
import { PublicPages } from "./PublicPages.ts"

const json = Reply.plainError(404, "Not Found", { "cache-control": "private, no-store", vary: "Accept" })

/** Response for unknown paths: a page for people, JSON for programs. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const page = Effect.map(
    (yield* PublicPages).notFound,
    HttpServerResponse.setHeader("vary", "Accept, Accept-Language")
  )
  return HttpRouter.add(
    "GET",
    "/*",
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => acceptsPage(headers["accept"]) ? page : Effect.succeed(json)
    )
  )
}))
