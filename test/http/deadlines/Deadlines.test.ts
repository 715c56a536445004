import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as Deadlines from "../../../src/http/deadlines/Deadlines.ts"
import { ResponseSeconds } from "../../../src/services/runtime/ResponseSeconds.ts"

/** Returns the status of a request whose handler does this work; a request has `seconds`. */
const statusOf = (seconds: number, work: Effect.Effect<void>) => {
  const routes = Layer.merge(
    HttpRouter.add("GET", "/", Effect.as(work, HttpServerResponse.empty({ status: 200 }))),
    Deadlines.layer
  )
  return Effect.acquireUseRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(Layer.provide(routes, Layer.succeed(ResponseSeconds, seconds)), { disableLogger: true })
    ),
    ({ handler }) => Effect.promise(async () => (await handler(new Request("http://localhost/"))).status),
    ({ dispose }) => Effect.promise(dispose)
  )
}

it.live("F378: a request has the time of RESPONSE_SECONDS_MAX", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* statusOf(1, Effect.never), 503)
    assert.strictEqual(yield* statusOf(60, Effect.sleep("1500 millis")), 200)
  }))
