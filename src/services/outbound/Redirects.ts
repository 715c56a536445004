import { Clock, Effect, Exit, Result, Scope } from "effect"
import type { IpNetwork } from "effect/net"
import { destination } from "./Destinations.ts"
import { Answered, Refused } from "./OutboundError.ts"
import * as RetryAfter from "./RetryAfter.ts"
import type { TransportAnswer } from "./Transport.ts"

/** How often one document may be somewhere else. */
export const redirectsMax = 3

const redirecting = new Set([301, 302, 303, 307, 308])

/** Where an answer leads to; TLS is never given up on the way, and no place is visited twice. */
const following = (
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  from: URL,
  { headers }: TransportAnswer,
  visited: ReadonlySet<string>
): Result.Result<URL, Refused> => {
  const refused = (rule: Refused["rule"]) => Result.fail(new Refused({ url: from.href, rule }))
  const location = headers["location"]
  if (location === undefined) return refused("redirect")
  const to = destination(allowed, location, from)
  if (Result.isFailure(to)) return to
  if (from.protocol === "https:" && to.success.protocol !== "https:") return refused("redirect")
  return visited.size > redirectsMax || visited.has(to.success.href) ? refused("redirects") : to
}

/**
 * The answer of the last of the places that a document was moved to, each of them a request of its own by `ask`. Fails
 * with an answer that is not 2xx. The scope holds the last answer only.
 */
export const follow = Effect.fnUntraced(function*<E>(
  allowed: ReadonlyArray<IpNetwork.IpNetwork>,
  start: URL,
  ask: (url: URL) => Effect.Effect<TransportAnswer, E, Scope.Scope>
) {
  const outer = yield* Effect.scope
  const visited = new Set<string>()
  for (let url = start;;) {
    visited.add(url.href)
    const scope = yield* Scope.fork(outer)
    const answer = yield* Scope.provide(ask(url), scope)
    const { headers, status } = answer
    if (status >= 200 && status < 300) return { url, answer }
    yield* Scope.close(scope, Exit.void)
    if (!redirecting.has(status)) {
      const retryAfterSeconds = RetryAfter.seconds(headers["retry-after"], yield* Clock.currentTimeMillis)
      return yield* new Answered({ url: url.href, status, retryAfterSeconds })
    }
    url = yield* Effect.fromResult(following(allowed, url, answer, visited))
  }
})
