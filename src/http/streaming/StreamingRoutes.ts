import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isHandshake, streamingPath } from "../guard/Handshake.ts"
import * as Reply from "../guard/Reply.ts"
import * as EventStreams from "./EventStreams.ts"
import * as SocketRoute from "./SocketRoute.ts"

const base = streamingPath
const notFound = Reply.plainError(404, "Not Found", { "cache-control": "private, no-store" })

/**
 * Streaming routes (streaming.md section 1): WebSockets at the base path, server-sent events below it. This server is
 * its own streaming host. A plain request to the base path gets 404, without a redirect (S-231).
 */
export const layer = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const socket = yield* SocketRoute.make
  const events = yield* EventStreams.make
  yield* router.add(
    "GET",
    `${base}/*`,
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { url } = request
      if (isHandshake(request)) return yield* socket
      const path = url.split("?", 1)[0]?.slice(base.length + 1) ?? ""
      if (path === "") return notFound
      if (path === "health") return HttpServerResponse.text("OK")
      return yield* events(path)
    })
  )
}))
