import { Effect } from "effect"
import { createServer } from "node:http"
import { freePort } from "../support/ports.ts"

/** Starts an OpenTelemetry collector that keeps everything it receives as text. */
export const startCollector = Effect.gen(function*() {
  const port = yield* freePort
  const received: Array<string> = []
  const server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      received.push(`${request.url} ${Buffer.concat(pieces).toString()}`)
      response.end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resume) => server.listen(port, "127.0.0.1", resume))),
    () =>
      Effect.promise(() =>
        new Promise<void>((resume) => {
          server.close(() => resume())
          server.closeAllConnections()
        })
      )
  )
  return { url: `http://127.0.0.1:${port}`, received: received as ReadonlyArray<string> }
})
