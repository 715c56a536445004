import { Effect, Layer, Logger, type LogLevel, Option, References, Result } from "effect"
import { FetchHttpClient, HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse, UrlParams } from "effect/http"
import { NetAddress } from "effect/net"
import { Otlp, OtlpSerialization, PrometheusMetrics } from "effect/observability"
import { ServerFigures } from "../services/metrics/ServerFigures.ts"
import { Environment } from "./Environment.ts"
import * as EventLoopWatch from "./telemetry/EventLoopWatch.ts"
import { jsonLine, logfmt } from "./telemetry/LogFormats.ts"
import { type LogRecord, recordOf } from "./telemetry/LogRecords.ts"
import * as ProcessMetrics from "./telemetry/ProcessMetrics.ts"
import { redact, secretNames } from "./telemetry/Redaction.ts"
import { isTrustedProxy } from "./TrustedProxies.ts"

const levels = { debug: "Debug", info: "Info", warning: "Warn", error: "Error" } as const satisfies Record<
  Environment["Service"]["logLevel"],
  LogLevel.LogLevel
>

const formats = { logfmt, json: jsonLine } as const satisfies Record<
  Environment["Service"]["logFormat"],
  (record: LogRecord) => string
>

/** Prints a line per event in a format. */
export const linesIn = (format: keyof typeof formats) =>
  Logger.withConsoleLog(Logger.make((event) => formats[format](recordOf(event))))

/** Logs one line per event, from `LOG_LEVEL` upwards, with secrets redacted. */
const logging = Layer.unwrap(
  Effect.map(
    Environment,
    ({ logFormat, logLevel }) =>
      Layer.merge(Logger.layer([linesIn(logFormat)]), Layer.succeed(References.MinimumLogLevel, levels[logLevel]))
  )
)

/** Redacts secrets in texts, and writes non-finite numbers as strings, as OTLP's JSON requires. */
const fit = (_key: string, value: unknown) =>
  typeof value === "string"
    ? redact(value)
    : typeof value === "number" && !Number.isFinite(value)
    ? String(value)
    : value

const exported = (data: unknown) => HttpBody.text(JSON.stringify(data, fit), "application/json")

/** OTLP serialization with secrets redacted. */
const serialization = Layer.succeed(OtlpSerialization.OtlpSerialization, {
  traces: exported,
  metrics: exported,
  logs: exported
})

/** Exports spans to `OTLP_URL`; without it none are created, because they cost more than a cached response. */
const tracing = Layer.unwrap(Effect.map(Environment, ({ otlpUrl }) =>
  otlpUrl === undefined
    ? Layer.succeed(References.TracerEnabled, false)
    : Otlp.layer({ baseUrl: otlpUrl, resource: { serviceName: "murmuration" }, loggerMergeWithExisting: true }).pipe(
      Layer.provide([FetchHttpClient.layer, serialization]),
      // Escaped parameter names of clients are decoded only here.
      Layer.merge(
        Layer.effect(
          UrlParams.CurrentRedactedNames,
          Effect.map(UrlParams.CurrentRedactedNames, (names) => [...names, ...secretNames])
        )
      )
    )))

/** Logging and tracing of all layers above. */
export const layer = EventLoopWatch.layer.pipe(
  // The exporter of logs replaces the logger with one that also calls the logger which it finds.
  Layer.provideMerge(tracing.pipe(Layer.provideMerge(logging)))
)

const isPrivateAddress = (remote: string): boolean =>
  Option.exists(Result.getSuccess(NetAddress.ipFromString(remote)), (address) => {
    const plain = NetAddress.toCanonical(address)
    return NetAddress.isLoopback(plain) ||
      (NetAddress.isIpv4Address(plain) ? NetAddress.isPrivate(plain) : NetAddress.isUniqueLocal(plain))
  })

/** Headers by which a request shows that a reverse proxy sent it. */
const proxyHeaders = ["x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "forwarded", "via"]

/**
 * `GET /metrics` in Prometheus' text format, for collectors on the same machine or private network; 404 for any other
 * client address, as trusted proxies report it, and for clients of a proxy that is not trusted. Belongs into the router.
 */
export const layerRouter = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const updateProcess = yield* ProcessMetrics.make
    const figures = yield* ServerFigures
    const { trustedProxies } = yield* Environment
    /** Returns true for a request whose address is that of a proxy: the client is unknown. */
    const isHidden = ({ headers, peerAddress }: HttpServerRequest.HttpServerRequest) =>
      proxyHeaders.some((name) => headers[name] !== undefined) && (headers["x-forwarded-for"] === undefined ||
        !isTrustedProxy(trustedProxies, Option.getOrUndefined(peerAddress)))
    yield* router.add(
      "GET",
      "/metrics",
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (isHidden(request) || !Option.exists(request.remoteAddress, isPrivateAddress)) {
          return HttpServerResponse.empty({ status: 404 })
        }
        yield* updateProcess
        yield* figures.update
        return HttpServerResponse.text(yield* PrometheusMetrics.format(), { contentType: "text/plain; version=0.0.4" })
      })
    )
  })
)
