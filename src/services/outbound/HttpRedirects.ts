import { Clock, Effect, Exit, Result, Scope } from "effect"
import type { IpNetwork } from "effect/net"
import { destination } from "./Destinations.ts"
import { Answered, Refused } from "./OutboundError.ts"
import * as RetryAfter from "./RetryAfter.ts"
import type { TransportAnswer } from "./Transport.ts"

/** How often one document may be somewhere else. */
export const redirectsMax = 3
/** Places that one look-up may ask in all, where several documents lead to one another (row 28). */
const placesMax = 6

/** The places that a look-up has asked, in the order in which it did. */
export type Places = Set<string>

const redirecting = new Set([301, 302, 303, 307, 308])

/** Where an answer leads to; TLS is never given up on the way, and it does not go on for ever. */
const following = (
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  from: URL,
  { headers }: TransportAnswer,
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
 * The answer of the last place that a document was moved to. Each place is a request of its own by `ask`. Fails with an
 * answer that is not 2xx. The scope holds the last answer only. No place is asked twice; `places` are those that the
 * same look-up has asked before.
 */
export const follow = Effect.fnUntraced(function*<E>(
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  start: URL,
  ask: (url: URL) => Effect.Effect<TransportAnswer, E, Scope.Scope>,
  places: Places = new Set()
) {
  const outer = yield* Effect.scope
  let url = start
  for (let redirects = 0;; redirects++) {
    if (places.has(url.href) || places.size >= placesMax) {
      return yield* new Refused({ url: url.href, rule: "redirects" })
    }
    places.add(url.href)
    const scope = yield* Scope.fork(outer)
    const answer = yield* Scope.provide(ask(url), scope)
    const { headers, status } = answer
    if (status >= 200 && status < 300) return { url, answer }
    yield* Scope.close(scope, Exit.void)
    if (!redirecting.has(status)) {
      const retryAfterSeconds = RetryAfter.seconds(headers["retry-after"], yield* Clock.currentTimeMillis)
      return yield* new Answered({ url: url.href, status, retryAfterSeconds })
    }
    url = yield* Effect.fromResult(following(allowed, url, answer, redirects))
  }
})
