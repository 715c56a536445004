import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Gate from "../../../src/services/outbound/Gate.ts"
import { requestsPerHostMax, waitingPerHostMax } from "../../../src/services/outbound/Slots.ts"
import * as Slots from "../../../src/services/outbound/Slots.ts"

/** Somebody who is inside until told to go. */
const guest = Effect.fnUntraced(function*(gate: Gate.Gate, order: Array<string>, name: string) {
  const go = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(
    gate.within(Effect.andThen(Effect.sync(() => order.push(name)), Deferred.await(go)))
  )
  yield* Effect.yieldNow
  return { fiber, leave: Effect.andThen(Deferred.succeed(go, undefined), Fiber.await(fiber)) }
})

describe("a gate", () => {
  it.effect("lets so many in, the others in their order, and none takes a place that goes away while it waits", () =>
    Effect.gen(function*() {
      const gate = Gate.make(1)
      const order: Array<string> = []
      const [a, b, c, d] = [
        yield* guest(gate, order, "a"),
        yield* guest(gate, order, "b"),
        yield* guest(gate, order, "c"),
        yield* guest(gate, order, "d")
      ]
      assert.deepStrictEqual(order, ["a"])
      yield* Fiber.interrupt(b.fiber)
      yield* a.leave
      assert.deepStrictEqual(order, ["a", "c"])
      // Interrupted inside, it leaves.
      yield* Fiber.interrupt(c.fiber)
      assert.deepStrictEqual(order, ["a", "c", "d"])
      yield* d.leave
      assert.isTrue(gate.tryEnter())
      assert.isFalse(gate.tryEnter())
    }))
})

describe("row 30: slots", () => {
  it.effect("of a host are bounded, as are those who wait for one; another host is not concerned", () =>
    Effect.gen(function*() {
      const slots = Slots.make()
      const [busy, free] = [new URL("https://busy.test/"), new URL("https://free.test/")]
      let inside = 0
      const stay = slots.within(busy, Effect.andThen(Effect.sync(() => inside++), Effect.never))
      const fibers = yield* Effect.all(
        Array.from({ length: requestsPerHostMax + waitingPerHostMax }, () => Effect.forkChild(stay))
      )
      yield* Effect.yieldNow
      assert.strictEqual(inside, requestsPerHostMax)
      assert.deepInclude(yield* Effect.flip(slots.within(busy, Effect.void)), { _tag: "Unreachable", reason: "busy" })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(slots.within(free, Effect.void))))
      yield* Effect.scoped(slots.take(free))
      // Those who waited first are gone; the others are let in, and leave again.
      yield* Fiber.interruptAll(fibers)
      yield* slots.within(busy, Effect.void)
      yield* Effect.scoped(slots.take(busy))
    }))
})
