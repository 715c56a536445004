import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { remoteFilesPath } from "../../services/instance/Urls.ts"
import { RemoteFiles } from "../../services/media/RemoteFiles.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { Limits } from "../guard/Limits.ts"
import * as Reply from "../guard/Reply.ts"
import { notFound, respond } from "./FileResponse.ts"

/** Browsers cache a file for a day: its host may change it, and we may hide it. */
const cached = { "cache-control": "public, max-age=86400" }

const badGateway = Reply.plainError(502, "The file could not be fetched from its server", {
  "cache-control": "no-store"
})

/** Serves files of remote accounts through this server, so that their servers do not learn who views them. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const files = yield* RemoteFiles
  const limits = yield* Limits
  const { mediaProxied } = yield* ServerConfig

  const serve = traced("RemoteFiles.serve")(
    function*(request: HttpServerRequest.HttpServerRequest) {
      const { headers, url } = request
      if (!mediaProxied) return notFound
      const key = (url.split("?", 1)[0] ?? "").slice(remoteFilesPath.length + 1)
      const admit = limits.spend([{ limit: "remoteFiles", key: addressOf(request) }])
      const { bytes, fetchedAt, mime, read } = yield* files.get(key, admit)
      return HttpServerResponse.setHeaders(
        respond(headers, { contentType: mime, size: bytes, tag: `${key}-${fetchedAt}`, read }),
        cached
      )
    },
    Effect.catchTags({
      RecordNotFound: () => Effect.succeed(notFound),
      TooManyRequests: (error) => Effect.succeed(Reply.error(error)),
      StorageFailed: (error) =>
        Effect.andThen(Effect.logWarning("a copy of a remote file could not be stored", error), Reply.unavailable)
    }),
    Effect.catch((error) => Effect.as(Effect.logDebug("a remote file could not be fetched", error), badGateway))
  )

  return HttpRouter.add("GET", `${remoteFilesPath}/*`, Effect.flatMap(HttpServerRequest.HttpServerRequest, serve))
}))
