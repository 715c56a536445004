import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as Reply from "../guard/Reply.ts"
import { acceptsPage } from "../html/Browsers.ts"
import { PublicPages } from "./PublicPages.ts"

const json = Reply.plainError(404, "Not Found", { "cache-control": "private, no-store", vary: "Accept" })

/** Response for unknown paths: a page for people, JSON for programs. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const { notFound } = yield* PublicPages
  return HttpRouter.add(
    "GET",
    "/*",
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => acceptsPage(headers["accept"]) ? notFound : Effect.succeed(json)
    )
  )
}))
