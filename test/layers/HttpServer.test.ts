import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { HttpRouter, HttpServer as Http, HttpServerRequest, HttpServerResponse } from "effect/http"
import { NetAddress } from "effect/net"
import { connect, type Socket } from "node:net"
import { Handover } from "../../src/layers/Handover.ts"
import * as HttpServer from "../../src/layers/HttpServer.ts"
import * as NodeServer from "../../src/layers/NodeServer.ts"
import * as Telemetry from "../../src/layers/Telemetry.ts"
import { ServerFigures } from "../../src/services/metrics/ServerFigures.ts"
import { eventually } from "../support/Eventually.ts"
import { testEnvironment } from "../support/TestEnvironment.ts"

/** Gates of `/slow`, and a signal when the maximum number of requests waits. */
const gates: Array<{
  readonly open: Deferred.Deferred<void>
  readonly full: Deferred.Deferred<void>
  waiting: number
}> = []

const waitAtGate = Effect.suspend(() => {
  const gate = gates.at(-1)!
  if (++gate.waiting === HttpServer.requestsInFlightMax) Deferred.doneUnsafe(gate.full, Effect.void)
  return Deferred.await(gate.open)
})

const routes = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    "/address",
    Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ remoteAddress }) => HttpServerResponse.text(Option.getOrElse(remoteAddress, () => "unknown"))
    )
  ),
  HttpRouter.add(
    "GET",
    "/slow",
    Effect.as(waitAtGate, HttpServerResponse.text("done"))
  ),
  HttpRouter.add(
    "POST",
    "/echo",
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request) => Effect.map(request.text, (text) => HttpServerResponse.text(String(text.length)))
    )
  ),
  Telemetry.layerRouter,
  HttpServer.layerRouter
)

const foundation = (variables: Record<string, string> = {}) =>
  Handover.layer.pipe(Layer.provide(NodeCrypto.layer), Layer.provideMerge(testEnvironment({ PORT: "0", ...variables })))

const serve = (variables: Record<string, string>) =>
  HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(HttpServer.layer),
    Layer.provide(ServerFigures.layerNone),
    Layer.provide(foundation(variables))
  )

const baseUrl = Effect.map(
  Http.HttpServer,
  ({ address }) => address._tag === "UnixPathAddress" ? "" : `http://${NetAddress.formatInet(address)}`
)

const get = (path: string, headers: Record<string, string> = {}) =>
  Effect.flatMap(baseUrl, (base) => Effect.promise(() => fetch(base + path, { headers })))
const addressSeen = (forwarded: string) =>
  Effect.flatMap(get("/address", { "x-forwarded-for": forwarded }), (response) => Effect.promise(() => response.text()))

layer(serve({}), { excludeTestServices: true })("HttpServer behind a proxy on the same machine", (it) => {
  it.effect("row 74 F75: trusts the trusted proxy's last value, and refuses unreadable ones", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* addressSeen("6.6.6.6, 198.51.100.7"), "198.51.100.7")
      assert.strictEqual(yield* addressSeen("198.51.100.7, 127.0.0.1"), "198.51.100.7")
      for (const header of ["unknown", "198.51.100.7,,", "198.51.100.7, garbage", ","]) {
        assert.strictEqual(yield* addressSeen(header), JSON.stringify({ error: "Bad Request" }), header)
      }
    }))

  it.effect("serves /metrics to a collector on the machine, and hides them from clients of the proxy", () =>
    Effect.gen(function*() {
      const local = yield* get("/metrics")
      assert.strictEqual(local.status, 200)
      assert.match(yield* Effect.promise(() => local.text()), /^process_resident_memory_bytes \d+$/m)
      const remote = yield* get("/metrics", { "x-forwarded-for": "198.51.100.7" })
      assert.strictEqual(remote.status, 404)
    }))

  it.effect("row 40: a body over the limit is not read", () =>
    Effect.gen(function*() {
      const base = yield* baseUrl
      const send = (bytes: number) =>
        Effect.promise(() =>
          fetch(`${base}/echo`, { method: "POST", body: "x".repeat(bytes) }).then(({ status }) => status)
        )
      assert.strictEqual(yield* send(100_000), 200)
      assert.notStrictEqual(yield* send(1_100_000), 200)
    }))

  it.effect("F16: an upgrade request for another protocol is handled like any other, including its body and the next request", () =>
    Effect.gen(function*() {
      const base = new URL(yield* baseUrl)
      const upgrade = "host: test\r\nconnection: upgrade\r\nupgrade: anything\r\n"
      const requests = [
        `POST /echo HTTP/1.1\r\n${upgrade}content-length: 5\r\n\r\nhello`,
        `GET /address HTTP/1.1\r\n${upgrade}\r\n`,
        "POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 3\r\n\r\nabc"
      ]
      const responses = yield* Effect.callback<ReadonlyArray<string>>((resume) => {
        const socket = connect(Number(base.port), base.hostname)
        const heard: Array<string> = []
        const next = () => socket.write(requests[heard.length] ?? "")
        socket.on("data", (data) => {
          heard.push(String(data))
          return heard.length === requests.length ? resume(Effect.succeed(heard)) : next()
        })
        next()
        return Effect.sync(() => socket.destroy())
      })
      assert.deepStrictEqual(
        responses.map((reply) => [reply.split(" ")[1], reply.split("\r\n\r\n")[1]]),
        [["200", "5"], ["200", "127.0.0.1"], ["200", "3"]]
      )
    }))

  it.effect("row 40: a client may take 20 s for headers at most, with 16 KiB of headers", () =>
    Effect.gen(function*() {
      const server = NodeServer.make()
      assert.isAtMost(server.headersTimeout, 20_000)
      assert.isAbove(server.headersTimeout, 0)
      assert.isAbove(server.timeout, NodeServer.make().keepAliveTimeout)
      assert.strictEqual(server.maxConnections, NodeServer.connectionsMax)
      const response = yield* get("/address", { "x-much": "x".repeat(20_000) })
      assert.strictEqual(response.status, 431)
    }))
})

layer(serve({ TRUSTED_PROXIES: "10.0.0.0/8" }), { excludeTestServices: true })(
  "HttpServer without a proxy here",
  (it) => {
    it.effect("row 74: ignores X-Forwarded-For from an untrusted peer", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* addressSeen("198.51.100.7"), "127.0.0.1")
      }))
  }
)

layer(serve({ TRUSTED_PROXIES: "127.0.0.9", CONNECTIONS_PER_ADDRESS: "16" }), { excludeTestServices: true })(
  "HttpServer with shares of connections",
  (it) => {
    it.effect("F16: an address has its share of the connections, and a trusted proxy is not one address", () =>
      Effect.gen(function*() {
        const base = new URL(yield* baseUrl)
        const open = (localAddress: string) =>
          Effect.acquireRelease(
            Effect.callback<Socket>((resume) => {
              const socket = connect({ port: Number(base.port), host: "127.0.0.1", localAddress })
              // A server that closes at once may do so before or after this end knows that it is connected.
              socket.on("error", () => {})
              socket.once("connect", () => resume(Effect.succeed(socket)))
            }),
            (socket) => Effect.sync(() => socket.destroy())
          )
        const responses = (socket: Socket) =>
          Effect.callback<boolean>((resume) => {
            socket.once("data", () => resume(Effect.succeed(true)))
            socket.once("close", () => resume(Effect.succeed(false)))
            socket.write("GET /address HTTP/1.1\r\nhost: test\r\n\r\n")
          })
        const held = yield* Effect.forEach(Array.from({ length: 16 }), () => open("127.0.0.2"))
        assert.isFalse(yield* Effect.flatMap(open("127.0.0.2"), responses), "one more than the share")
        assert.isTrue(yield* Effect.flatMap(open("127.0.0.3"), responses), "somebody else")
        assert.isTrue(yield* responses(held[0]!), "what is open goes on")
        const behind = yield* Effect.forEach(Array.from({ length: 40 }), () => open("127.0.0.9"))
        assert.isTrue(yield* responses(behind[39]!), "a proxy has as many as it wants")
        held[1]!.resetAndDestroy()
        assert.isTrue(
          yield* Effect.repeat(Effect.flatMap(open("127.0.0.2"), responses), { until: (responded) => responded }),
          "a connection that is over gives its place back"
        )
      }))
  }
)

const under = (what: string, upgrade: string) =>
  it.effect(`row 40, F16: accepts a limited number of concurrent requests and asks further ones to retry, ${what}`, () =>
    Effect.gen(function*() {
      const gate = { open: Deferred.makeUnsafe<void>(), full: Deferred.makeUnsafe<void>(), waiting: 0 }
      gates.push(gate)
      const base = new URL(yield* baseUrl)
      // Raw sockets, because a client library would queue that many requests.
      const sockets: Array<Socket> = []
      let over = false
      const requestAt = (at: number) => {
        const socket = connect(Number(base.port), base.hostname)
        sockets[at] = socket
        // On a busy machine the server may close one early; another replaces it.
        socket.on("error", () => {}).once("close", () => over || requestAt(at))
        socket.write(`GET /slow HTTP/1.1\r\nHost: test\r\n${upgrade}\r\n`)
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          over = true
          sockets.forEach((socket) => socket.destroy())
        })
      )
      for (let at = 0; at < HttpServer.requestsInFlightMax; at++) requestAt(at)
      // An earlier request would take a slot.
      yield* Deferred.await(gate.full)
      over = true
      const refused = yield* get("/address")
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      const responded = yield* Effect.forkChild(
        Effect.callback<string>((resume) => {
          sockets[0]!.once("data", (data) => resume(Effect.succeed(String(data))))
        }),
        { startImmediately: true }
      )
      yield* Deferred.succeed(gate.open, undefined)
      assert.match(yield* Fiber.join(responded), /^HTTP\/1\.1 200/)
      yield* eventually(get("/address"), ({ status }) => status === 200)
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(serve({})))))

describe("HttpServer under load", () => {
  under("whatever they are", "")
  under("also where they ask for another protocol", "Connection: upgrade\r\nUpgrade: anything\r\n")
  under(
    "also where that is a WebSocket in a place without",
    "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n"
  )
})

layer(serve({ TRUSTED_PROXIES: "10.0.0.0/8" }), { excludeTestServices: true })(
  "HttpServer behind an untrusted proxy",
  (it) => {
    it.effect("F266: hides /metrics from its clients, who all have its address", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* get("/metrics")).status, 200)
        for (const forwarded of ["198.51.100.7", "10.0.0.9", "127.0.0.1", "garbage"]) {
          assert.strictEqual((yield* get("/metrics", { "x-forwarded-for": forwarded })).status, 404, forwarded)
        }
        for (const name of ["forwarded", "via", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"]) {
          assert.strictEqual((yield* get("/metrics", { [name]: "127.0.0.1" })).status, 404, name)
        }
      }))
  }
)

layer(HttpServer.layer.pipe(Layer.provide(foundation())), { excludeTestServices: true })(
  "HttpServer before it serves",
  (it) => {
    it.effect("responds 503 with Retry-After instead of nothing", () =>
      Effect.gen(function*() {
        const response = yield* get("/health")
        assert.strictEqual(response.status, 503)
        assert.strictEqual(response.headers.get("retry-after"), "1")
      }))
  }
)
