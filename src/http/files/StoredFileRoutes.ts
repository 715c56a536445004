import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { filesPath } from "../../services/instance/Urls.ts"
import { servedTypes } from "../../services/media/FileTypes.ts"
import { MediaRedirects } from "../../services/media/MediaRedirects.ts"
import { isStoredName, Storage } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import * as Reply from "../guard/Reply.ts"
import { notFound, respond } from "./FileResponse.ts"

/**
 * Headers of a redirect from a former path. It is temporary, as the address changes with `MEDIA_BASE_URL` and the path
 * does not; caches keep it for a day.
 */
const redirected = {
  "cache-control": "public, max-age=86400",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*"
}

/**
 * Serves uploaded pictures, videos and audio by the names that this server gave them (safety rows 44, 46, 51), and
 * redirects from the paths that copied files had before. Any other name never reaches the storage.
 */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const storage = yield* Storage
  const redirects = yield* MediaRedirects

  const redirect = (path: string) =>
    Effect.map(
      redirects.find(path),
      (address) => address === undefined ? notFound : HttpServerResponse.redirect(address, { headers: redirected })
    )

  const serve = traced("StoredFileRoutes.serve")(
    function*({ headers, url }: HttpServerRequest.HttpServerRequest) {
      const name = (url.split("?", 1)[0] ?? "").slice(filesPath.length + 1)
      if (!isStoredName(name)) return yield* redirect(name)
      const [tag = "", extension = ""] = name.slice(name.indexOf("/") + 1).split(".")
      const contentType = servedTypes[extension]
      if (contentType === undefined) return notFound
      const size = yield* storage.size(name)
      if (size === undefined) return notFound
      return respond(headers, { contentType, size, tag, read: (range) => storage.read(name, range) })
    },
    Effect.catchTag(
      "StorageFailed",
      (error) => Effect.andThen(Effect.logWarning("a stored file could not be read", error), Reply.unavailable)
    )
  )

  return HttpRouter.add("GET", `${filesPath}/*`, Effect.flatMap(HttpServerRequest.HttpServerRequest, serve))
}))
