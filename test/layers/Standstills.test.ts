import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Latch, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, Statement } from "effect/sql"
import * as Standstills from "../../src/layers/Standstills.ts"
import { ProcessStalled } from "../../src/services/runtime/StoodStill.ts"

/** A database that records its statements. */
const listening = Effect.gen(function*() {
  const asked: Array<string> = []
  const execute = (text: string) => Effect.sync(() => void asked.push(text))
  const connection: SqlConnection.Connection = {
    execute: (text) => Effect.as(execute(text), []),
    executeRaw: execute,
    executeStream: () => assert.fail("not asked for"),
    executeValues: (text) => Effect.as(execute(text), []),
    executeUnprepared: (text) => Effect.as(execute(text), []),
    executeValuesUnprepared: (text) => Effect.as(execute(text), [])
  }
  const sql = yield* SqlClient.make({
    driver: "none",
    acquirer: Effect.succeed(connection),
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: []
  })
  return { sql, asked }
})

it.effect("F60: a process that was frozen drops earlier requests, and reads continue", () =>
  Effect.gen(function*() {
    const real = yield* Clock.Clock
    const { asked, sql } = yield* listening
    let now = 1_000_000
    const asleep: Array<() => void> = []
    const clock: Clock.Clock = {
      ...real,
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now),
      sleep: () => Effect.callback<void>((resume) => void asleep.push(() => resume(Effect.void)))
    }
    const beat = Effect.promise(async () => {
      for (const wake of asleep.splice(0)) wake()
      while (asleep.length === 0) await new Promise(setImmediate)
    })
    let during = () => {}
    const route = Effect.gen(function*() {
      during()
      return HttpServerResponse.text(String((yield* ProcessStalled)()))
    })
    const write = Effect.gen(function*() {
      yield* sql`SELECT 1`
      during()
      yield* sql`INSERT 2`
      return HttpServerResponse.text("written")
    })
    const left = yield* Latch.make()
    const leave = Effect.gen(function*() {
      const going = yield* Effect.forkDetach(Effect.andThen(left.await, sql`INSERT 3`))
      remaining.push(going)
      return HttpServerResponse.text("left")
    })
    const remaining: Array<Fiber.Fiber<unknown, unknown>> = []
    const routes = Layer.mergeAll(
      HttpRouter.add("POST", "/leave", leave),
      HttpRouter.add("POST", "/", route),
      HttpRouter.add("GET", "/", route),
      HttpRouter.add("POST", "/write", write),
      Standstills.layer
    )
    const { dispose, handler } = HttpRouter.toWebHandler(
      routes.pipe(Layer.provideMerge(Layer.succeed(Clock.Clock, clock))),
      { disableLogger: true }
    )
    const send = (method: string, path = "/") =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://localhost${path}`, { method }))
        return response.status === 200 ? await response.text() : response.status
      })
    assert.deepStrictEqual([yield* send("POST"), yield* send("GET")], ["false", "false"])
    now += Standstills.stallMillisMax + 1
    assert.deepStrictEqual([yield* send("POST"), yield* send("GET"), yield* send("POST")], [503, "false", 503])
    // However late it is: messages that have arrived are read after a few turns of the event loop.
    now += 4_000
    for (let beats = 1; beats < Standstills.beatsAfterStall; beats++) {
      yield* beat
      assert.strictEqual(yield* send("POST"), 503)
    }
    yield* beat
    assert.deepStrictEqual([yield* send("POST"), yield* send("POST", "/write")], ["false", "written"])
    assert.deepStrictEqual(asked.splice(0), ["SELECT 1", "INSERT 2"])
    // The process was frozen while it handled the request.
    during = () => now += Standstills.stallMillisMax + 1
    assert.strictEqual(yield* send("POST"), "true")
    for (let beats = 1; beats <= Standstills.beatsAfterStall; beats++) yield* beat
    assert.strictEqual(yield* send("POST", "/write"), 503)
    assert.deepStrictEqual(asked.splice(0), ["SELECT 1"])
    // Background work of a request is not part of any request.
    for (let beats = 1; beats <= Standstills.beatsAfterStall; beats++) yield* beat
    assert.strictEqual(yield* send("POST", "/leave"), "left")
    now += Standstills.stallMillisMax + 1
    yield* left.open
    yield* Effect.forEach(remaining, Fiber.join)
    assert.deepStrictEqual(asked, ["INSERT 3"])
    yield* Effect.promise(dispose)
  }).pipe(Effect.provide(Reactivity.layer)))
