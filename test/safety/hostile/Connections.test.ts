import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Body from "../../../src/http/body/Body.ts"
import { arrivalMillisMax } from "../../../src/http/body/BodyReading.ts"
import { Handover } from "../../../src/layers/Handover.ts"
import * as HttpServer from "../../../src/layers/HttpServer.ts"
import * as NodeServer from "../../../src/layers/NodeServer.ts"
import * as Telemetry from "../../../src/layers/Telemetry.ts"
import { ServerFigures } from "../../../src/services/metrics/ServerFigures.ts"
import { eventually } from "../../support/Eventually.ts"
import { testEnvironment } from "../../support/TestEnvironment.ts"
import { diceOf, runsOr, seed, timeoutMillis } from "./Generate.ts"
import { addresses, holdOpen, isServed } from "./Sockets.ts"

/**
 * Node's own timers ignore the virtual clock, so its timeouts are about a thousandth of the product's. Except the
 * request timeout, which would end stalled bodies before their own deadline.
 */
const server = NodeServer.make(false, {
  requestTimeout: 3_600_000,
  headersTimeout: 400,
  connectionsCheckingInterval: 50,
  keepAliveTimeout: 300,
  lateBodyTimeout: 5_000,
  idleTimeout: 900
})

const reply = (text: string) => Effect.succeed(HttpServerResponse.text(text))
const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/address", reply("here")),
  HttpRouter.add("GET", "/large", reply("x".repeat(1_000_000))),
  HttpRouter.add(
    "POST",
    "/api/v1/echo",
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ json }) => Effect.flatMap(json, (body) => reply(JSON.stringify(body)))
    )
  ),
  Body.layer,
  Telemetry.layerRouter,
  HttpServer.layerRouter
)

const handover = Layer.effect(
  Handover,
  Effect.map(Handover, (real) => Handover.of({ ...real, listener: Effect.succeed(server) }))
).pipe(Layer.provide(Handover.layer))

const Live = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(HttpServer.layer),
  Layer.provide(ServerFigures.layerNone),
  Layer.provide(handover.pipe(Layer.provide(NodeCrypto.layer))),
  Layer.provideMerge(testEnvironment({ PORT: "0", TRUSTED_PROXIES: "10.0.0.0/8", CONNECTIONS_PER_ADDRESS: "16" }))
)

/** Hostile connections per run, and requests of a normal client in the meantime. */
const socketsOfRun = 250
const asksOfRun = 20

layer(Live)("hostile connections", (it) => {
  it.effect(
    "F16: held connections of any kind do not delay others, and leave nothing behind",
    ({ annotate }) =>
      Effect.gen(function*() {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const fetchText = (path: string, init: RequestInit) =>
          Effect.promise(async () => {
            const response = await fetch(`http://127.0.0.1:${port}${path}`, {
              signal: AbortSignal.timeout(120_000),
              ...init
            })
            return [response.status, await response.text()] as const
          })
        const open = Effect.promise(() =>
          new Promise<number>((resolve, reject) =>
            server.getConnections((error, count) => error === null ? resolve(count) : reject(error))
          )
        )
        const held: Record<string, number> = {}
        for (let run = 0; run < runsOr(2); run++) {
          const dice = diceOf(run)
          const about = `HOSTILE_SEED=${seed} run ${run}`
          const sockets = Array.from({ length: socketsOfRun }, () => holdOpen(dice, port))
          for (const { kind } of sockets) held[kind] = (held[kind] ?? 0) + 1
          for (let number = 0; number < asksOfRun; number++) {
            assert.deepStrictEqual(yield* fetchText("/address", {}), [200, "here"], about)
            const init = { method: "POST", headers: { "content-type": "application/json" }, body: `{"a":${number}}` }
            assert.deepStrictEqual(yield* fetchText("/api/v1/echo", init), [200, `{"a":${number}}`], about)
          }
          // Stalled bodies time out in virtual time, everything else by Node's short deadlines.
          yield* TestClock.adjust(arrivalMillisMax + 1_000)
          yield* eventually(open, (count) => count <= 2)
          for (const { socket } of sockets) socket.destroy()
          for (const from of addresses) assert.isTrue(yield* Effect.promise(() => isServed(port, from)), about)
        }
        // Every slot is free again: as many as one address may use.
        const all = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, at) => at),
          (at) =>
            fetchText("/api/v1/echo", {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: String(at)
            }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(all.map(([status]) => status), all.map(() => 200))
        annotate(`held: ${JSON.stringify(held)}`)
      }),
    timeoutMillis
  )
})
