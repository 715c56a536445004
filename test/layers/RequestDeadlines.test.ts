import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RequestListener, Server } from "node:http"
import { connect, type Socket } from "node:net"
import * as NodeServer from "../../src/layers/NodeServer.ts"
import { eventually } from "../support/Eventually.ts"

/** Timeouts in milliseconds; a request that does not arrive within `requestTimeout` is closed at the next check. */
const times = {
  requestTimeout: 100,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 10,
  keepAliveTimeout: 65_000,
  lateBodyTimeout: 5_000,
  idleTimeout: 90_000
}

/** Starts a server and returns its port. */
const serving = (handler: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = NodeServer.make(false, times)
        server.on("request", handler)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

/** Responds with the length of the body. */
const counting: RequestListener = (request, response) => {
  let bytes = 0
  request.on("data", (chunk: Uint8Array) => bytes += chunk.length)
  request.on("error", () => undefined)
  request.on("end", () => response.end(String(bytes)))
}

interface Line {
  readonly socket: Socket
  /** Text that the server sent. */
  heard: string
  closed: boolean
}

/** Opens a connection that declares a body of this size, and sends its first bytes. */
const opened = (port: number, path: string, declared: number, sent: number) =>
  Effect.acquireRelease(
    Effect.sync((): Line => {
      const line: Line = { socket: connect(port, "127.0.0.1"), heard: "", closed: false }
      line.socket.on("data", (data) => line.heard += String(data))
      line.socket.on("error", () => undefined)
      line.socket.on("close", () => line.closed = true)
      line.socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${declared}\r\n\r\n${"x".repeat(sent)}`)
      return line
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const closed = (line: Line) => eventually(Effect.sync(() => line.closed), (ended) => ended)

describe("bodies of requests that arrive slowly", () => {
  it.effect("row 40: F287: an upload at the rate of a slow line outlives the timeout of other requests", () =>
    Effect.gen(function*() {
      const port = yield* serving(counting)
      const bytes = 200_000
      const upload = yield* opened(port, "/web/settings/archives", bytes, bytes - 10)
      const others = [
        yield* opened(port, "/api/v1/statuses", bytes, bytes - 10),
        yield* opened(port, "/web/settings/archives/1", bytes, bytes - 10),
        // Headers alone do not count for the rate.
        yield* opened(port, "/web/settings/archives", bytes, 1)
      ]
      for (const line of others) {
        yield* closed(line)
        assert.match(line.heard, /^HTTP\/1.1 408 /)
      }
      assert.deepStrictEqual([upload.closed, upload.heard], [false, ""])
      upload.socket.write("x".repeat(10))
      const reply = yield* eventually(Effect.sync(() => upload.heard), (heard) => heard.endsWith(String(bytes)))
      assert.match(reply, /^HTTP\/1.1 200 /)
    }))

  it.effect("row 40: F287: a request that has arrived is not closed while it waits for its handler to read it", () =>
    Effect.gen(function*() {
      const read: Array<() => void> = []
      const port = yield* serving((request, response) => read.push(() => counting(request, response)))
      const whole = yield* opened(port, "/web/settings/archives", 10, 10)
      yield* eventually(Effect.sync(() => read.length), (count) => count === 1)
      const slow = yield* opened(port, "/b", 10, 1)
      yield* closed(slow)
      assert.deepStrictEqual([whole.closed, whole.heard], [false, ""])
      read[0]!()
      yield* eventually(Effect.sync(() => whole.heard), (heard) => heard.endsWith("\r\n\r\n10"))
    }))

  it.effect("row 40: a request without a body is not closed before its response", () =>
    Effect.gen(function*() {
      const open: Array<() => void> = []
      const port = yield* serving((_, response) => open.push(() => response.end("late")))
      const without = yield* opened(port, "/a", 0, 0)
      yield* eventually(Effect.sync(() => open.length), (count) => count === 1)
      const slow = yield* opened(port, "/b", 10, 1)
      // The slow one is closed at its deadline; that of the first one has passed, too.
      yield* closed(slow)
      for (const reply of open) reply()
      yield* eventually(Effect.sync(() => without.heard), (heard) => heard.endsWith("late"))
    }))
})
