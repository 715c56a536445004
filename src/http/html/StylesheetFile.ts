import { HttpRouter, HttpServerResponse } from "effect/http"

/** Serves a stylesheet at `path`, so that the pages' policy needs no inline styles. */
export const stylesheetFile = (path: `/${string}`, stylesheet: string) =>
  HttpRouter.add(
    "GET",
    path,
    HttpServerResponse.text(stylesheet, {
      contentType: "text/css; charset=utf-8",
      headers: { "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" }
    })
  )
