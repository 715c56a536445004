import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpClient, HttpRouter, HttpServerResponse } from "effect/http"
import * as EventLoopWatch from "../../../src/layers/telemetry/EventLoopWatch.ts"
import { CurrentWork } from "../../../src/services/runtime/CurrentWork.ts"
import { eventually } from "../../support/Eventually.ts"

/** Blocks the event loop for a number of milliseconds of this thread's CPU time. */
const hold = (millis: number) =>
  Effect.sync(() => {
    const used = () => {
      const { system, user } = process.threadCpuUsage()
      return (system + user) / 1_000
    }
    for (const end = used() + millis; used() < end;);
  })

/** Makes a watch, and the lines that it logs. */
const watched = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return { lines, layer: EventLoopWatch.layerAfter(0).pipe(Layer.provideMerge(Logger.layer([logger]))) }
}

/** Repeats work that blocks the loop until it is logged: the first time the watch may not have started. */
const logged = <E, R>(lines: ReadonlyArray<string>, holding: Effect.Effect<unknown, E, R>, pattern: RegExp) =>
  eventually(
    Effect.map(holding, () => lines.filter((line) => pattern.test(line)).length),
    (count) => count > 0
  )

describe("the event loop watch", () => {
  it.live("F104: a pause is logged with the background work that blocked the loop", () => {
    const { layer, lines } = watched()
    return Effect.gen(function*() {
      const job = hold(EventLoopWatch.pauseMillisLogged + 150).pipe(
        Effect.provideService(CurrentWork, "a job of kind links"),
        Effect.forkChild
      )
      yield* logged(lines, job, /^The event loop was blocked for \d{3,} ms by a job of kind links$/)
    }).pipe(Effect.provide(layer))
  })

  it.live("F104: a pause is logged with the route that blocked the loop, without ids and queries", () => {
    const { layer, lines } = watched()
    const routes = HttpRouter.use((router) =>
      router.add(
        "GET",
        "/held/:id",
        Effect.as(hold(EventLoopWatch.pauseMillisLogged + 150), HttpServerResponse.empty())
      )
    )
    const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layerTest),
      Layer.provide(layer)
    )
    return Effect.gen(function*() {
      yield* HttpClient.get("/nothing")
      const request = HttpClient.get("/held/secret?token=secret")
      yield* logged(lines, request, /^The event loop was blocked for \d{3,} ms by GET \/held\/:id$/)
    }).pipe(Effect.provide(served))
  })

  it.live("F104: a loop that is idle, or works in turns, is not logged", () => {
    const { layer, lines } = watched()
    return Effect.gen(function*() {
      yield* Effect.sleep(2 * EventLoopWatch.pauseMillisLogged)
      for (let turn = 0; turn < 50; turn++) {
        yield* hold(8)
        yield* Effect.yieldNow
      }
      yield* Effect.sleep(100)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(layer))
  })
})
