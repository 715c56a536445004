import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readClientScript } from "../../html/ClientScript.ts"
import * as PushPage from "./PushPage.ts"

/** Serves the service worker, whose address stays the same: browsers look for a new one at each visit. */
const worker = Layer.unwrap(
  Effect.map(readClientScript(new URL("./worker.client.ts", import.meta.url)), (text) =>
    HttpRouter.add(
      "GET",
      "/sw.js",
      HttpServerResponse.text(text, {
        contentType: "text/javascript; charset=utf-8",
        headers: {
          "cache-control": "no-cache",
          "content-security-policy": "default-src 'none'; connect-src *",
          "x-content-type-options": "nosniff"
        }
      })
    ))
)

/** The service worker, and push notifications. */
export const layer = Layer.merge(PushPage.layer, worker)
