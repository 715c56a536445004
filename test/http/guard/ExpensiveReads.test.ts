import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { atOnceMax, bounds, ExpensiveReads } from "../../../src/http/guard/ExpensiveReads.ts"
import { from } from "./From.ts"

describe("expensive reads", () => {
  it.effect("F18: expensive reads share few slots; excess requests get 503, and each address has a share", () =>
    Effect.gen(function*() {
      const { within } = yield* ExpensiveReads
      const gate = yield* Deferred.make<void>()
      let [inside, most] = [0, 0]
      const read = within(
        Effect.suspend(() => {
          most = Math.max(most, ++inside)
          return Effect.ensuring(Deferred.await(gate), Effect.sync(() => inside--))
        })
      )
      const start = (address: string, count: number) =>
        Effect.forEach(
          Array.from({ length: count }),
          () => Effect.forkChild(from(address)(read), { startImmediately: true })
        )
      const readers = yield* start("192.0.2.1", bounds.perAddressMax)
      assert.strictEqual((yield* Effect.flip(from("192.0.2.1")(read)))._tag, "Unavailable")
      const shares = bounds.atOnceMax / bounds.perAddressMax
      for (let n = 2; n <= shares; n++) readers.push(...yield* start(`192.0.2.${n}`, bounds.perAddressMax))
      assert.strictEqual((yield* Effect.flip(from("192.0.2.99")(read)))._tag, "Unavailable")
      // An interrupted waiter frees its slot.
      yield* Fiber.interrupt(readers.pop()!)
      const late = yield* start("192.0.2.99", 1)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([...readers, ...late], Fiber.join)
      assert.strictEqual(most, atOnceMax)
      assert.strictEqual(inside, 0)
    }).pipe(Effect.provide(Layer.fresh(ExpensiveReads.layer))))
})
