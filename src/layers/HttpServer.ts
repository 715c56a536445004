import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Context, Effect, Exit, Layer, Metric, type Scope } from "effect"
import { HttpMethod, HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { bodyBytesMax } from "../http/body/Body.ts"
import { forRequests } from "../http/Group.ts"
import { isHandshake } from "../http/streaming/Handshake.ts"
import { Work } from "../http/Work.ts"
import { BatchedResponse } from "./BatchedResponse.ts"
import { Environment } from "./Environment.ts"
import { OperatorError } from "./OperatorError.ts"
import * as Standstills from "./Standstills.ts"

/** Milliseconds for a whole request to arrive, body included. */
const requestTimeout = 60_000
/** Milliseconds for a request's headers to arrive. */
const headersTimeout = 15_000
/** How often Node looks for requests over these limits, in milliseconds. */
const connectionsCheckingInterval = 5_000
/** Milliseconds that a connection stays open between requests; longer than the 60 s of common reverse proxies. */
const keepAliveTimeout = 65_000
/** Milliseconds in which something has to move on a connection: a client that reads no answer holds it in memory. */
const idleTimeout = 90_000
/** Connections to this process, streams included; beyond it new ones are closed. */
export const connectionsMax = 32_768
const headerBytesMax = 16_384
const headersCountMax = 100
/** Requests in work at once in this process; beyond it clients are told to come back. Open streams do not count. */
export const requestsInFlightMax = 1000
/** Bytes of one message that a client may send on a WebSocket. */
const webSocketMessageBytesMax = 16_384
/** How long requests may take to end when the server stops; commands of actors end in 5 s. */
const gracefulShutdownTimeout = "6 seconds"

/**
 * Node's HTTP server. While nothing serves yet, or no longer, it answers 503 itself, where Node would leave the request
 * without any answer.
 */
export const makeServer = (): Server => {
  const server = createServer({
    ServerResponse: BatchedResponse,
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval,
    keepAliveTimeout,
    maxHeaderSize: headerBytesMax,
    shouldUpgradeCallback: isHandshake
  })
  server.maxHeadersCount = headersCountMax
  server.maxConnections = connectionsMax
  server.timeout = idleTimeout
  server.on("request", (_request, response) => {
    if (server.listenerCount("request") > 1) return
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" })
    response.end(JSON.stringify({ error: "The server is starting or stopping" }))
  })
  return server
}

/** What requests carry. The size is for bodies that nothing else limits. */
const carried = (services: Context.Context<Scope.Scope>) =>
  Context.add(forRequests(services), HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyBytesMax))

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
const listening = Layer.unwrap(Effect.map(Environment, ({ host, port }) =>
  NodeHttpServer.layer(makeServer, {
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
  )))

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
        const comeBack = Effect.suspend(() => {
          if (now >= requestsInFlightMax) return Effect.die(overloaded)
          now++
          inWork = true
          return Effect.void
        })
        const outer = Context.get(context, Work)
        const work: Work = {
          aside: (effect) =>
            Effect.suspend(() => {
              leave()
              return Effect.onExit(outer.aside(effect), () => comeBack)
            })
        }
        const isStream = isHandshake(request)
        const counted = isStream || HttpMethod.hasBody(request.method)
          ? Effect.provideService(handler, Work, work)
          : handler
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

/** Addresses of clients behind a proxy of `TRUSTED_PROXIES`, as that proxy saw them; everybody else's header is ignored. */
const proxies = HttpRouter.middleware(
  Effect.map(Environment, ({ trustedProxies }) => {
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    return (handler) =>
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ headers }) => headers["x-forwarded-for"] === undefined ? handler : forwarded(handler)
      )
  }),
  { global: true }
)

/** What stands before every route. Belongs into the router, beside the routes. */
export const layerRouter = Layer.mergeAll(admission, proxies, Standstills.layer)
