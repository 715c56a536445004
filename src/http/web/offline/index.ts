import { Effect, FileSystem, Layer, Path } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { stripTypeScriptTypes } from "node:module"
import * as PushPage from "./PushPage.ts"

/** Serves the service worker, whose address stays the same: browsers look for a new one at each visit. */
const worker = Layer.unwrap(
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const at = yield* path.fromFileUrl(new URL("./worker.client.ts", import.meta.url))
    const text = stripTypeScriptTypes(yield* fs.readFileString(at)).split("\n").map((line) => line.trimEnd()).filter((
      line
    ) => line !== "").join("\n")
    return HttpRouter.add(
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
    )
  }).pipe(Effect.orDie)
)

/** The service worker, and push notifications. */
export const layer = Layer.merge(PushPage.layer, worker)
