import { Effect } from "effect"
import type { Server } from "node:http"
import { Server as NetServer } from "node:net"

/**
 * Time for which idle connections stay open, so that a request on its way gets a response that closes the connection.
 */
const idleGrace = "500 millis"
/** Maximum time for open requests. */
const requestsMax = "6 seconds"

/**
 * Accepts no more connections, serves requests on open ones, and closes each after its response. `stop` ends streams
 * that would stay open.
 */
export const drain = (server: Server, stop: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.gen(function*() {
    // The next response on each connection says that it was the last.
    server.maxRequestsPerSocket = 1
    const closed = new Promise<void>((resolve) => {
      // Not http's own `close`, which ends idle connections at once, even if a request is on its way.
      NetServer.prototype.close.call(server, () => resolve())
    })
    yield* stop
    yield* Effect.raceFirst(
      Effect.promise(() => closed),
      Effect.andThen(
        Effect.delay(Effect.sync(() => server.closeIdleConnections()), idleGrace),
        Effect.timeoutOrElse(Effect.promise(() => closed), { duration: requestsMax, orElse: () => Effect.void })
      )
    )
  })
