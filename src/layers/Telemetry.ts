import { Effect, Layer, Logger, type LogLevel, Option, References, Result } from "effect"
import { FetchHttpClient, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NetAddress } from "effect/net"
import { Otlp, PrometheusMetrics } from "effect/observability"
import { Environment } from "./Environment.ts"
import * as ProcessMetrics from "./telemetry/ProcessMetrics.ts"
import { redact } from "./telemetry/Redaction.ts"

const levels = { debug: "Debug", info: "Info", warning: "Warn", error: "Error" } as const satisfies Record<
  Environment["Service"]["logLevel"],
  LogLevel.LogLevel
>

const lines = Logger.withConsoleLog(Logger.map(Logger.formatLogFmt, redact))

/** The log: a line an event, from `LOG_LEVEL` upwards, without secrets. */
const logging = Layer.unwrap(
  Effect.map(
    Environment,
    ({ logLevel }) => Layer.merge(Logger.layer([lines]), Layer.succeed(References.MinimumLogLevel, levels[logLevel]))
  )
)

/** Spans go to `OTLP_URL`; without it none are made, because they cost more than a cached answer does. */
const tracing = Layer.unwrap(Effect.map(Environment, ({ otlpUrl }) =>
  otlpUrl === undefined
    ? Layer.succeed(References.TracerEnabled, false)
    : Otlp.layerJson({ baseUrl: otlpUrl, resource: { serviceName: "murmuration" }, loggerMergeWithExisting: true })
      .pipe(
        Layer.provide(FetchHttpClient.layer)
      )))

/** Logging and tracing of everything that is built on top of it. */
export const layer = Layer.merge(logging, tracing)

const isNearby = (remote: string): boolean =>
  Option.exists(Result.getSuccess(NetAddress.ipFromString(remote)), (address) => {
    const plain = NetAddress.toCanonical(address)
    return NetAddress.isLoopback(plain) ||
      (NetAddress.isIpv4Address(plain) ? NetAddress.isPrivate(plain) : NetAddress.isUniqueLocal(plain))
  })

/**
 * `GET /metrics` in Prometheus' text format, for collectors on the same machine or private network; anybody else, as the
 * trusted proxies report it, finds nothing there. Belongs into the router.
 */
export const layerRouter = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const updateProcess = yield* ProcessMetrics.make
    yield* router.add(
      "GET",
      "/metrics",
      Effect.gen(function*() {
        const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
        if (!Option.exists(remoteAddress, isNearby)) return HttpServerResponse.empty({ status: 404 })
        yield* updateProcess
        return HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType: "text/plain; version=0.0.4" })
      })
    )
  })
)
