import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Clock, Context, Effect, Exit, Layer, Metric, Option, Scope } from "effect"
import { HttpMethod, HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { bodyBytesMax } from "../http/body/Body.ts"
import { isHandshake } from "../http/guard/Handshake.ts"
import { InFlight } from "../http/guard/InFlight.ts"
import { plainError } from "../http/guard/Reply.ts"
import { reduceContext } from "../services/runtime/Lean.ts"
import * as ConnectionShares from "./ConnectionShares.ts"
import { Environment } from "./Environment.ts"
import { Handover } from "./Handover.ts"
import { OperatorError } from "./OperatorError.ts"
import * as Standstills from "./Standstills.ts"
import { ignoreForeignTraces } from "./telemetry/ForeignTraces.ts"
import { pathClasses, pathClassOf } from "./telemetry/PathClasses.ts"
import { isTrustedProxy } from "./TrustedProxies.ts"

/** Maximum requests in progress in this process; beyond it clients get 503. Open streams do not count. */
export const requestsInFlightMax = 1000
/** Maximum bytes of a WebSocket message from a client. */
const webSocketMessageBytesMax = 16_384
/** Grace period for requests at shutdown; commands of actors end in 5 s. */
const gracefulShutdownTimeout = "6 seconds"

/** Context of requests. The size limits bodies that have no other limit. */
const needed = reduceContext(Scope.Scope)
const carried = (services: Context.Context<Scope.Scope>) =>
  Context.add(needed(services), HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyBytesMax))

/** Removes the server's own services from the context of requests. */
const withoutServerContext = Layer.effect(
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
  const { host, otlpUrl, port } = yield* Environment
  const handover = yield* Handover
  const server = yield* handover.listener
  yield* ConnectionShares.guard(server)
  if (otlpUrl !== undefined) ignoreForeignTraces(server)
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

export const layer = Layer.provideMerge(withoutServerContext, listening)

const requests = Metric.counter("murmuration_http_requests_total", {
  description: "Requests served, by class of their path and of their status",
  incremental: true
})
const durations = Metric.histogram("murmuration_http_request_seconds", {
  description: "Response time of a request, by class of its path",
  boundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
})
const inFlight = Metric.gauge("murmuration_http_requests_in_flight", { description: "Requests in progress" })

const statuses = ["1", "2", "3", "4", "5"] as const
/** Metrics of each class, made once: a request only looks them up. */
const byClass = Object.fromEntries(pathClasses.map((path) => [
  path,
  {
    durations: Metric.withAttributes(durations, { path }),
    requests: statuses.map((first) => Metric.withAttributes(requests, { path, status: `${first}xx` }))
  }
]))

const overloaded = HttpServerResponse.jsonUnsafe({ error: "The server is busy, please try again" }, {
  status: 503,
  headers: { "retry-after": "1" }
})

/**
 * Admits up to `requestsInFlightMax` requests and records metrics. A request does not count while its body arrives or
 * its stream is open.
 */
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
          const reenter = Effect.suspend(() => {
            if (now >= requestsInFlightMax) return Effect.die(overloaded)
            now++
            inWork = true
            return Effect.void
          })
          const outer = Context.get(context, InFlight)
          counted = Effect.provideService(handler, InFlight, {
            withoutSlot: (effect) =>
              Effect.suspend(() => {
                leave()
                return Effect.onExit(outer.withoutSlot(effect), () => reenter)
              })
          })
        }
        const clock = Context.get(context, Clock.Clock)
        const start = clock.currentTimeMillisUnsafe()
        return Effect.onExit(counted, (exit) => {
          leave()
          if (isStream) return Effect.void
          const of = byClass[pathClassOf(request.url)]
          of?.durations.updateUnsafe((clock.currentTimeMillisUnsafe() - start) / 1000, context)
          inFlight.updateUnsafe(now, context)
          if (Exit.isSuccess(exit)) of?.requests[Math.floor(exit.value.status / 100) - 1]?.updateUnsafe(1, context)
          return Effect.void
        })
      })
  }),
  { global: true }
)

const unreadable = plainError(400, "Bad Request", { "cache-control": "private, no-store" })

/**
 * Client addresses behind a proxy of `TRUSTED_PROXIES`, as the proxy reports them; the header is ignored from any other
 * peer. An invalid header of a trusted proxy is refused: the request would count as the proxy's own, and bypass IP
 * blocks.
 */
const proxies = HttpRouter.middleware(
  Effect.map(Environment, ({ trustedProxies }) => {
    const forwarded = HttpMiddleware.xForwardedHeaders({ trustedProxies })
    return (handler) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        request.headers["x-forwarded-for"] === undefined
          ? handler
          : forwarded(Effect.flatMap(HttpServerRequest.HttpServerRequest, (current) =>
            // The request is unchanged if the peer is not a trusted proxy or the header is invalid.
            current === request && isTrustedProxy(trustedProxies, Option.getOrUndefined(request.peerAddress))
              ? Effect.succeed(unreadable)
              : handler)))
  }),
  { global: true }
)

/** Middleware of every route; must be in the same router as the routes. */
export const layerRouter = Layer.mergeAll(admission, proxies, Standstills.layer)
