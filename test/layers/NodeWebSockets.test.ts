import { NodeHttpServer } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Queue } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { connect as connectPlainly } from "node:net"
import { WebSocket as Client } from "ws"
import { waitingBytesMax, type WebSocket, WebSockets } from "../../src/http/streaming/WebSockets.ts"
import * as NodeWebSockets from "../../src/layers/NodeWebSockets.ts"

/**
 * A connection as the server sees it; it is served until `leave` completes, and `gone` completes when it no longer is.
 */
interface Served {
  readonly socket: WebSocket
  readonly leave: Deferred.Deferred<void>
  readonly gone: Deferred.Deferred<void>
}
class Connections extends Context.Service<Connections, Queue.Queue<Served>>()("test/Connections") {}

const route = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const connections = yield* Connections
  const sockets = yield* WebSockets
  yield* router.add(
    "GET",
    "/",
    Effect.gen(function*() {
      const leave = yield* Deferred.make<void>()
      const gone = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const socket = yield* sockets.accept
        yield* Queue.offer(connections, { socket, leave, gone })
        yield* Deferred.await(leave)
      }).pipe(Effect.scoped, Effect.ignore, Effect.ensuring(Deferred.succeed(gone, undefined)))
      return HttpServerResponse.text("must not reach a WebSocket")
    })
  )
}))

const layerServed = HttpRouter.serve(route, { disableListenLog: true, disableLogger: true }).pipe(
  Layer.provide(NodeWebSockets.layer),
  Layer.provideMerge(Layer.effect(Connections, Queue.unbounded<Served>())),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 }))
)

const port = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => Number(HttpServer.formatAddress(address).split(":").at(-1))
)

const open = Effect.fnUntraced(function*(protocols: ReadonlyArray<string> = []) {
  const client = new Client(`ws://127.0.0.1:${yield* port}/`, [...protocols])
  yield* Effect.addFinalizer(() => Effect.sync(() => client.terminate()))
  const messages = yield* Queue.unbounded<string>()
  client.on("message", (data) => Queue.offerUnsafe(messages, String(data)))
  const closed = Effect.callback<{ readonly code: number; readonly reason: string }>((resume) => {
    client.once("close", (code, reason) => resume(Effect.succeed({ code, reason: String(reason) })))
  })
  const closing = Fiber.join(yield* Effect.forkScoped(closed))
  yield* Effect.callback<void>((resume) => {
    client.once("open", () => resume(Effect.void))
  })
  const server = yield* Queue.take(yield* Connections)
  return { client, messages, closing, ...server }
})

const utf8 = new TextEncoder()

layer(layerServed, { excludeTestServices: true })("WebSockets", (it) => {
  it.effect("echo the first subprotocol, carry texts both ways, and mark binary messages", () =>
    Effect.gen(function*() {
      const { client, messages, socket } = yield* open(["one", "two"])
      assert.strictEqual(client.protocol, "one")
      for (const length of [0, 125, 126, 65_535, 65_536, 200_000]) {
        const text = `${"ü".repeat(length / 2)}${"x".repeat(length % 2)}`
        socket.send(utf8.encode(text))
        assert.strictEqual(yield* Queue.take(messages), text)
      }
      client.send("text")
      assert.deepStrictEqual(yield* socket.receive, ["text"])
      client.send(Buffer.from([1]))
      assert.deepStrictEqual(yield* socket.receive, [new Uint8Array([1])])
    }).pipe(Effect.scoped))

  it.effect("close with a reason or as going away, and nothing but frames is ever written to them", () =>
    Effect.gen(function*() {
      const told = yield* open()
      told.socket.close(1008, "because")
      assert.deepStrictEqual(yield* told.closing, { code: 1008, reason: "because" })
      assert.isTrue(yield* Effect.match(told.socket.receive, { onSuccess: () => false, onFailure: () => true }))
      const left = yield* open()
      yield* Deferred.succeed(left.leave, undefined)
      assert.deepStrictEqual(yield* left.closing, { code: 1001, reason: "" })
      yield* Deferred.await(left.gone)
      left.socket.send(utf8.encode("too late"))
      left.socket.ping()
    }).pipe(Effect.scoped))

  it.effect("know whether the client has shown activity", () =>
    Effect.gen(function*() {
      const { client, socket } = yield* open()
      assert.isTrue(socket.isAlive())
      assert.isFalse(socket.isAlive())
      socket.ping()
      yield* Effect.callback<void>((resume) => {
        client.once("ping", () => resume(Effect.void))
      })
      client.send("after the pong")
      yield* socket.receive
      assert.isTrue(socket.isAlive())
    }).pipe(Effect.scoped))

  it.effect("close a client that does not read its messages, and no other", () =>
    Effect.gen(function*() {
      const slow = yield* open()
      const quick = yield* open()
      slow.client.pause()
      const text = utf8.encode("x".repeat(waitingBytesMax / 16))
      // The kernel buffers data first; no kernel buffers a gigabyte.
      let sent = 0
      while ((yield* Deferred.poll(slow.gone))._tag === "None" && sent < 16_384) {
        slow.socket.send(text)
        sent++
        if (sent % 16 === 0) {
          quick.socket.send(text)
          yield* Queue.take(quick.messages)
        }
      }
      assert.isBelow(sent, 16_384)
      assert.strictEqual(quick.client.readyState, Client.OPEN)
    }).pipe(Effect.scoped))

  it.effect("ignore requests that are not a handshake", () =>
    Effect.gen(function*() {
      const at = yield* port
      const response = yield* Effect.callback<string>((resume) => {
        let text = ""
        const plain = connectPlainly(at, "127.0.0.1", () =>
          plain.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"))
        plain.on("data", (data) =>
          text += String(data))
        plain.on("close", () =>
          resume(Effect.succeed(text)))
      })
      assert.match(response, /^HTTP\/1\.1 400 Bad Request/)
      assert.notInclude(response, "must not")
    }))
})
