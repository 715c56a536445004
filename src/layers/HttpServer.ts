import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Context, Effect, Exit, Layer, Metric, Option, Scope } from "effect"
import { HttpMethod, HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { bodyBytesMax } from "../http/body/Body.ts"
import { isHandshake } from "../http/guard/Handshake.ts"
import { plainError } from "../http/guard/Reply.ts"
import { InFlight } from "../http/InFlight.ts"
import { lean } from "../services/Lean.ts"
import * as ConnectionShares from "./ConnectionShares.ts"
import { Environment } from "./Environment.ts"
import { Handover } from "./Handover.ts"
import { OperatorError } from "./OperatorError.ts"
import * as Standstills from "./Standstills.ts"
import { isTrustedProxy } from "./TrustedProxies.ts"

/** Requests in work at once in this process; beyond it clients are told to come back. Open streams do not count. */
export const requestsInFlightMax = 1000
/** Bytes of one message that a client may send on a WebSocket. */
const webSocketMessageBytesMax = 16_384
/** How long requests may take to end when the server stops; commands of actors end in 5 s. */
const gracefulShutdownTimeout = "6 seconds"

/** What requests carry. The size is for bodies that nothing else limits. */
const needed = lean(Scope.Scope)
const carried = (services: Context.Context<Scope.Scope>) =>
  Context.add(needed(services), HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyBytesMax))

/** Requests get nothing of what the server is made of, but what they need themselves. */
const leanly = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, ({ address, serve }) =>
    HttpServer.make({
      address,
      serve: (app, middleware) =>
        Effect.updateContext(middleware === undefined ? serve(app) : serve(app, middleware), carried)
    }))
)

/** Listens on `HOST` and `PORT`. */
const listening = Layer.unwrap(Effect.gen(function*() {
  const { host, port } = yield* Environment
  const handover = yield* Handover
  const server = yield* handover.listener
  yield* ConnectionShares.guard(server)
  return NodeHttpServer.layer(() => server, {
    host,
    port,
    gracefulShutdownTimeout,
    websocket: { maxPayload: webSocketMessageBytesMax }
  }).pipe(
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effectContext(
        new OperatorError({
          message: `Cannot listen on ${host}:${port} (HOST, PORT): ${
            cause instanceof Error ? cause.message : String(cause)
          }`
        })
      ))
  )
}))

export const layer = Layer.provideMerge(leanly, listening)

const requests = Metric.counter("murmuration_http_requests_total", {
  description: "Answered requests",
  incremental: true
})
const durations = Metric.histogram("murmuration_http_request_seconds", {
  description: "Time to answer a request",
  boundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
})
const inFlight = Metric.gauge("murmuration_http_requests_in_flight", { description: "Requests in work" })

const classes = ["1", "2", "3", "4", "5"] as const
const byClass = classes.map((first) => Metric.withAttributes(requests, { status: `${first}xx` }))
const requestsOf = (status: number) => byClass[Math.floor(status / 100) - 1] ?? requests

const overloaded = HttpServerResponse.jsonUnsafe({ error: "The server is busy, please try again" }, {
  status: 503,
  headers: { "retry-after": "1" }
})

/** Admits requests up to `requestsInFlightMax` and measures them; one whose body arrives or whose stream is open is not in work. */
const admission = HttpRouter.middleware(
  Effect.sync(() => {
    let now = 0
    return (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        if (now >= requestsInFlightMax) return Effect.succeed(overloaded)
        now++
        let inWork = true
        const leave = () => {
          if (inWork) now--
          inWork = false
        }
        const isStream = isHandshake(request)
        let counted = handler
        if (isStream || HttpMethod.hasBody(request.method)) {
          const comeBack = Effect.suspend(() => {
            if (now >= requestsInFlightMax) return Effect.die(overloaded)
            now++
            inWork = true
            return Effect.void
          })
          const outer = Context.get(context, InFlight)
          counted = Effect.provideService(handler, InFlight, {
            aside: (effect) =>
              Effect.suspend(() => {
                leave()
                return Effect.onExit(outer.aside(effect), () => comeBack)
              })
          })
        }
        const clock = Context.get(context, Clock.Clock)
        const start = clock.currentTimeMillisUnsafe()
        return Effect.onExit(counted, (exit) => {
          leave()
          if (isStream) return Effect.void
          durations.updateUnsafe((clock.currentTimeMillisUnsafe() - start) / 1000, context)
          inFlight.updateUnsafe(now, context)
          if (Exit.isSuccess(exit)) requestsOf(exit.value.status).updateUnsafe(1, context)
          return Effect.void
        })
      })
  }),
  { global: true }
)

const unreadable = plainError(400, "Bad Request", { "cache-control": "private, no-store" })

/**
 * Addresses of clients behind a proxy of `TRUSTED_PROXIES`, as that proxy saw them; everybody else's header is ignored.
 * A trusted proxy's header that cannot be read is refused: the request would count as the proxy's own, past IP blocks.
 */
const proxies = HttpRouter.middleware(
  Effect.map(Environment, ({ trustedProxies }) => {
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    return (handler) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        request.headers["x-forwarded-for"] === undefined
          ? handler
          : forwarded(Effect.flatMap(HttpServerRequest.HttpServerRequest, (seen) =>
            // Unchanged where the peer is no trusted proxy, or the header cannot be read.
            seen === request && isTrustedProxy(trustedProxies, Option.getOrUndefined(request.peerAddress))
              ? Effect.succeed(unreadable)
              : handler)))
  }),
  { global: true }
)

/** Middleware of every route. Belongs into the router, beside the routes. */
export const layerRouter = Layer.mergeAll(admission, proxies, Standstills.layer)
