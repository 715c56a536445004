import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import * as NodeServer from "../../src/layers/NodeServer.ts"

describe("request bodies after the response", () => {
  it.effect("F75: a refused request whose body drips keeps its connection a few seconds", () =>
    Effect.gen(function*() {
      const server = NodeServer.make(false, {
        requestTimeout: 60_000,
        headersTimeout: 15_000,
        connectionsCheckingInterval: 5_000,
        keepAliveTimeout: 65_000,
        lateBodyTimeout: 20,
        idleTimeout: 90_000
      })
      server.on("request", (_request, response) => response.writeHead(404).end())
      const heard = yield* Effect.callback<string>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1")
          let text = ""
          socket.write("POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nx")
          socket.on("data", (data) => {
            text += String(data)
            socket.write("x")
          })
          socket.on("error", () => undefined)
          socket.on("close", () => resume(Effect.succeed(text)))
        })
        return Effect.sync(() => server.close())
      })
      assert.deepStrictEqual(heard.match(/HTTP\/1.1 \d+/g), ["HTTP/1.1 404"])
      yield* Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
    }))
})
