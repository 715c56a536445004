import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"

/** Finds a currently free port of 127.0.0.1. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** Retries with another port if the first one was taken in between. */
export const unlessTaken = <A, E, R>(starts: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(starts, { times: 3, while: (error) => String(error).includes("EADDRINUSE") })

/** A port of 127.0.0.1 that accepts connections and never responds; `reached` completes at the first connection. */
export const mutePort = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer()
    const reached = once(server, "connection")
    await once(server.listen(0, "127.0.0.1"), "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { server, port, reached: Effect.promise(() => reached) }
  }),
  ({ server }) => Effect.sync(() => server.close())
)
