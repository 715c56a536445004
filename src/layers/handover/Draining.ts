import { Effect } from "effect"
import type { Server } from "node:http"
import { Server as NetServer } from "node:net"

/** How long connections between two requests stay open: their next request is answered, and is told to come anew. */
const idleGrace = "500 millis"
/** How long requests may take to end. */
const requestsMax = "6 seconds"

/**
 * Takes no connection any more. Answers what is asked on open ones, and closes each after its answer. `stop` ends what
 * would stay open by itself (streams).
 */
export const drain = (server: Server, stop: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.gen(function*() {
    // The next answer on each says that it was the last.
    server.maxRequestsPerSocket = 1
    const closed = new Promise<void>((resolve) => {
      // Not http's own `close`, which ends idle connections at once, whatever is on its way to them.
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
