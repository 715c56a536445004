import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isProbe, probeHeader, type SeenRequest } from "../../services/instance/ProxyProbes.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"

const headers = { "cache-control": "private, no-store" }
const healthy = HttpServerResponse.text("OK", { headers })

/**
 * Reports that the process responds; it checks no dependency. The operator's doctor gets its request as it arrived, to
 * check the reverse proxy.
 */
export const layer = Layer.unwrap(Effect.map(Secrets, ({ signingKey }) =>
  HttpRouter.add(
    "GET",
    "/health",
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const probe = request.headers[probeHeader]
      if (probe === undefined) return healthy
      if (!isProbe(Redacted.value(signingKey), probe, yield* Clock.currentTimeMillis)) return healthy
      const seen: typeof SeenRequest.Type = {
        address: Option.getOrElse(request.remoteAddress, () => ""),
        peer: Option.getOrElse(request.peerAddress, () => ""),
        host: request.headers["host"] ?? "",
        forwardedFor: request.headers["x-forwarded-for"] ?? null,
        forwardedProto: request.headers["x-forwarded-proto"] ?? null
      }
      return HttpServerResponse.jsonUnsafe(seen, { headers })
    })
  )))
