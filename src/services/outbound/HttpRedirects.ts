import { Clock, Effect, Exit, Result, Scope } from "effect"
import type { IpNetwork } from "effect/net"
import { destination } from "./Destinations.ts"
import { ErrorResponse, Refused } from "./OutboundError.ts"
import * as RetryAfter from "./RetryAfter.ts"
import type { TransportResponse } from "./Transport.ts"

/** Maximum redirects of one document. */
export const redirectsMax = 3
/** Maximum URLs of one lookup, if several documents refer to one another (row 28). */
const requestedUrlsMax = 6

/** URLs that a lookup has requested, in order. */
export type RequestedUrls = Set<string>

const redirecting = new Set([301, 302, 303, 307, 308])

/** Returns the target of a redirect; fails for a downgrade from TLS, or too many redirects. */
const following = (
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  from: URL,
  { headers }: TransportResponse,
  redirects: number
): Result.Result<URL, Refused> => {
  const refused = (rule: Refused["rule"]) => Result.fail(new Refused({ url: from.href, rule }))
  const location = headers["location"]
  if (location === undefined) return refused("redirect")
  const to = destination(allowed, location, from)
  if (Result.isFailure(to)) return to
  if (from.protocol === "https:" && to.success.protocol !== "https:") return refused("redirect")
  return redirects >= redirectsMax ? refused("redirects") : to
}

/**
 * Requests a document and follows its redirects; each is a separate `ask`. Fails with `ErrorResponse` for any status but 2xx
 * and redirects. The scope holds only the last response. No URL is requested twice; `places` are those already
 * requested by the same lookup.
 */
export const follow = Effect.fnUntraced(function*<E>(
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  start: URL,
  ask: (url: URL) => Effect.Effect<TransportResponse, E, Scope.Scope>,
  places: RequestedUrls = new Set()
) {
  const outer = yield* Effect.scope
  let url = start
  for (let redirects = 0;; redirects++) {
    if (places.has(url.href) || places.size >= requestedUrlsMax) {
      return yield* new Refused({ url: url.href, rule: "redirects" })
    }
    places.add(url.href)
    const scope = yield* Scope.fork(outer)
    const response = yield* Scope.provide(ask(url), scope)
    const { headers, status } = response
    if (status >= 200 && status < 300) return { url, response }
    yield* Scope.close(scope, Exit.void)
    if (!redirecting.has(status)) {
      const retryAfterSeconds = RetryAfter.seconds(headers["retry-after"], yield* Clock.currentTimeMillis)
      return yield* new ErrorResponse({ url: url.href, status, retryAfterSeconds })
    }
    url = yield* Effect.fromResult(following(allowed, url, response, redirects))
  }
})
