import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { filesPath } from "../../services/instance/Urls.ts"
import { servedTypes } from "../../services/media/FileTypes.ts"
import { isStoredName, Storage } from "../../services/media/Storage.ts"
import { traced } from "../../services/runtime/Traced.ts"
import * as Reply from "../guard/Reply.ts"
import { notFound, respond } from "./FileResponse.ts"

/**
 * Serves uploaded pictures, videos and audio by the names that this server gave them (safety rows 44, 46, 51). Any
 * other name never reaches the storage.
 */
export const layer = Layer.unwrap(Effect.map(Storage, (storage) => {
  const serve = traced("StoredFileRoutes.serve")(
    function*({ headers, url }: HttpServerRequest.HttpServerRequest) {
      const name = (url.split("?", 1)[0] ?? "").slice(filesPath.length + 1)
      if (!isStoredName(name)) return notFound
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
