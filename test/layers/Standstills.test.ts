import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Standstills from "../../src/layers/Standstills.ts"
import { StoodStill } from "../../src/services/StoodStill.ts"

it.effect("F60: a process that stood still does nothing that was asked for before, and reads go on", () =>
  Effect.gen(function*() {
    const real = yield* Clock.Clock
    let now = 1_000_000
    const clock: Clock.Clock = {
      ...real,
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now)
    }
    let during = () => {}
    const route = Effect.gen(function*() {
      during()
      return HttpServerResponse.text(String((yield* StoodStill)()))
    })
    const routes = Layer.mergeAll(
      HttpRouter.add("POST", "/", route),
      HttpRouter.add("GET", "/", route),
      Standstills.layer
    )
    const { dispose, handler } = HttpRouter.toWebHandler(
      routes.pipe(Layer.provideMerge(Layer.succeed(Clock.Clock, clock))),
      { disableLogger: true }
    )
    const ask = (method: string) =>
      Effect.promise(async () => {
        const response = await handler(new Request("http://localhost/", { method }))
        return response.status === 200 ? await response.text() : response.status
      })
    assert.deepStrictEqual([yield* ask("POST"), yield* ask("GET")], ["false", "false"])
    now += Standstills.standstillMillisMax + 1
    assert.deepStrictEqual([yield* ask("POST"), yield* ask("GET"), yield* ask("POST")], [503, "false", 503])
    now += Standstills.aftermathMillis
    assert.strictEqual(yield* ask("POST"), "false")
    // It stood still while it worked on the request.
    during = () => now += Standstills.standstillMillisMax + 1
    assert.strictEqual(yield* ask("POST"), "true")
    yield* Effect.promise(dispose)
  }))
