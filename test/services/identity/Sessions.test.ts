import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Sessions } from "../../../src/services/identity/Sessions.ts"
import { user } from "../../support/SignedIn.ts"
import { services } from "../../support/WebServer.ts"

layer(Layer.provideMerge(Sessions.layer, services))("Sessions", (it) => {
  it.effect("F76: a user has ten sessions; an eleventh ends the oldest, and none of another user", () =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const [anna, ben] = [yield* user("anna"), yield* user("ben")]
      const start = (account: typeof anna) =>
        Effect.tap(sessions.start(account, { userAgent: "x", address: undefined }), () => TestClock.adjust("1 second"))
      const other = yield* start(ben)
      const own = yield* Effect.forEach(Array.from({ length: 11 }), () => start(anna))
      const live = yield* Effect.forEach([other, ...own], (secret) => Effect.map(sessions.find(secret), Option.isSome))
      assert.deepStrictEqual(live, [true, false, ...Array.from({ length: 10 }, () => true)])
    }))
})
