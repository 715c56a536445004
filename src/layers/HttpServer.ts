import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Effect, Layer, Metric } from "effect"
import { HttpMiddleware, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { bodyBytesMax } from "../http/body/Body.ts"
import { Environment } from "./Environment.ts"
import { OperatorError } from "./OperatorError.ts"

/** Milliseconds for a whole request to arrive, body included. */
const requestTimeout = 60_000
/** Milliseconds for a request's headers to arrive. */
const headersTimeout = 15_000
/** How often Node looks for requests over these limits, in milliseconds. */
const connectionsCheckingInterval = 5_000
/** Milliseconds that a connection stays open between requests; longer than the 60 s of common reverse proxies. */
const keepAliveTimeout = 65_000
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
    requestTimeout,
    headersTimeout,
    connectionsCheckingInterval,
    keepAliveTimeout,
    maxHeaderSize: headerBytesMax
  })
  server.maxHeadersCount = headersCountMax
  server.on("request", (_request, response) => {
    if (server.listenerCount("request") > 1) return
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" })
    response.end(JSON.stringify({ error: "The server is starting or stopping" }))
  })
  return server
}

/** Listens on `HOST` and `PORT`. */
export const layer = Layer.unwrap(Effect.map(Environment, ({ host, port }) =>
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
const requestsOf = new Map(classes.map((first) => [first, Metric.withAttributes(requests, { status: `${first}xx` })]))

const overloaded = HttpServerResponse.jsonUnsafe({ error: "The server is busy, please try again" }, {
  status: 503,
  headers: { "retry-after": "1" }
})

/** Admits requests up to `requestsInFlightMax`, limits their bodies where a route says nothing else, and measures them; an upgraded connection is no request in work. */
const admission = HttpRouter.middleware(
  Effect.sync(() => {
    let now = 0
    return (handler) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (request.headers["upgrade"] !== undefined) return yield* handler
        if (now >= requestsInFlightMax) return overloaded
        now++
        const start = yield* Clock.currentTimeMillis
        return yield* handler.pipe(
          Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyBytesMax)),
          Effect.tap((response) => {
            const counter = requestsOf.get(classes[Math.floor(response.status / 100) - 1] ?? "5") ?? requests
            return Metric.update(counter, 1)
          }),
          Effect.ensuring(Effect.gen(function*() {
            now--
            yield* Metric.update(durations, ((yield* Clock.currentTimeMillis) - start) / 1000)
            yield* Metric.update(inFlight, now)
          }))
        )
      })
  }),
  { global: true }
)

/** Addresses of clients behind a proxy of `TRUSTED_PROXIES`, as that proxy saw them; everybody else's header is ignored. */
const proxies = HttpRouter.middleware(
  Effect.map(Environment, ({ trustedProxies }) => HttpMiddleware.xForwardedHeaders({ trustedProxies })),
  { global: true }
)

/** What stands before every route. Belongs into the router, beside the routes. */
export const layerRouter = Layer.merge(admission, proxies)
