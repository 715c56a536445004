import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, References } from "effect"
import { TestClock } from "effect/testing"
import * as Gate from "../../../src/services/outbound/Gate.ts"
import { requestsPerHostMax, waitingPerHostMax } from "../../../src/services/outbound/HostSlots.ts"
import * as HostSlots from "../../../src/services/outbound/HostSlots.ts"
import { Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import * as SlowTurns from "../../../src/services/outbound/SlowTurns.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"

/** Occupies a slot until told to leave. */
const slotHolder = Effect.fnUntraced(function*(gate: Gate.FifoSemaphore, order: Array<string>, name: string) {
  const go = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(
    gate.within(Effect.andThen(Effect.sync(() => order.push(name)), Deferred.await(go)))
  )
  yield* Effect.yieldNow
  return { fiber, leave: Effect.andThen(Deferred.succeed(go, undefined), Fiber.await(fiber)) }
})

describe("a semaphore", () => {
  it.effect("admits a limited number, the others in order; a waiter that leaves takes no slot", () =>
    Effect.gen(function*() {
      const gate = Gate.make(1)
      const order: Array<string> = []
      const [a, b, c, d] = [
        yield* slotHolder(gate, order, "a"),
        yield* slotHolder(gate, order, "b"),
        yield* slotHolder(gate, order, "c"),
        yield* slotHolder(gate, order, "d")
      ]
      assert.deepStrictEqual(order, ["a"])
      yield* Fiber.interrupt(b.fiber)
      yield* a.leave
      assert.deepStrictEqual(order, ["a", "c"])
      // An interrupted holder releases its slot.
      yield* Fiber.interrupt(c.fiber)
      assert.deepStrictEqual(order, ["a", "c", "d"])
      yield* d.leave
      assert.isTrue(gate.tryEnter())
      assert.isFalse(gate.tryEnter())
    }))
})

describe("row 30: slots", () => {
  it.effect("of a host are bounded, as are waiting requests; another host is not affected", () =>
    Effect.gen(function*() {
      const slots = HostSlots.make()
      const [busy, free] = [new URL("https://busy.test/"), new URL("https://free.test/")]
      let inside = 0
      const stay = slots.within(busy, "fetch", Effect.andThen(Effect.sync(() => inside++), Effect.never))
      const fibers = yield* Effect.all(
        Array.from({ length: requestsPerHostMax + waitingPerHostMax }, () => Effect.forkChild(stay))
      )
      yield* Effect.yieldNow
      assert.strictEqual(inside, requestsPerHostMax)
      assert.deepInclude(yield* Effect.flip(slots.within(busy, "fetch", Effect.void)), {
        _tag: "Unreachable",
        reason: "busy"
      })
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(slots.within(free, "fetch", Effect.void))))
      yield* Effect.scoped(slots.take(free, "fetch"))
      // The interrupted waiters are gone; later ones get the slots, and release them.
      yield* Fiber.interruptAll(fibers)
      yield* slots.within(busy, "fetch", Effect.void)
      yield* Effect.scoped(slots.take(busy, "fetch"))
    }))

  for (const kind of ["fetch", "delivery"] as const) {
    it.effect(`F20: hosts that accept every ${kind} and never respond leave slots for prompt ones, and for other kinds`, () =>
      Effect.gen(function*() {
        const slots = HostSlots.make()
        const good = new URL("https://good.test/")
        const other = kind === "fetch" ? "delivery" : "fetch"
        yield* slots.within(good, kind, Effect.void)
        let held = 0
        const tarpits = Array.from({ length: 4 * 128 }, (_, n) => new URL(`https://tarpit${n % 128}.test/`))
        const stay = (url: URL) =>
          Effect.replicateEffect(
            Effect.forkChild(slots.within(url, kind, Effect.andThen(Effect.sync(() => held++), Effect.never))),
            2
          )
        const fibers = yield* Effect.forEach(tarpits, stay)
        yield* Effect.yieldNow
        assert.strictEqual(held, HostSlots.requestsMax[kind] / 2)
        let asked = 0
        const useSlot = (url: URL, as: HostSlots.Kind) => slots.within(url, as, Effect.sync(() => asked++))
        yield* Effect.forkChild(Effect.andThen(useSlot(good, kind), useSlot(new URL("https://new.test/"), other)))
        yield* Effect.yieldNow
        assert.strictEqual(asked, 2)
        yield* Fiber.interruptAll(fibers.flat())
        // A host that timed out counts as unknown again.
        const slow = slots.within(good, kind, Effect.fail(new Unreachable({ url: good.href, reason: "timeout" })))
        yield* Effect.flip(slow)
        yield* Effect.forEach(tarpits, stay)
        yield* Effect.yieldNow
        yield* Effect.forkChild(useSlot(good, kind))
        yield* Effect.yieldNow
        assert.strictEqual(asked, 2)
      }))
  }

  it.effect.each([-3_600_000, 3_600_000])(
    "row 91 F114: a wall clock that jumps by %d ms makes no host prompt or slow",
    (by) =>
      Effect.gen(function*() {
        const { jump, within } = yield* jumpingClock
        const slots = HostSlots.make()
        const [quick, slow] = [new URL("https://quick.test/"), new URL("https://slow.test/")]
        yield* within(slots.within(quick, "fetch", Effect.sync(() => jump(by))))
        const late = yield* Effect.forkChild(
          within(slots.within(slow, "fetch", Effect.andThen(Effect.sync(() => jump(by)), Effect.sleep("5 seconds"))))
        )
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(late)
        // Hosts that never respond take all slots that are not reserved for prompt hosts.
        for (let n = 0; n < HostSlots.requestsMax.fetch / 2; n++) {
          yield* Effect.forkChild(slots.within(new URL(`https://tarpit${n}.test/`), "fetch", Effect.never))
        }
        yield* Effect.yieldNow
        const served: Array<string> = []
        for (const url of [quick, slow]) {
          yield* Effect.forkChild(slots.within(url, "fetch", Effect.sync(() => served.push(url.host))))
        }
        yield* Effect.yieldNow
        assert.deepStrictEqual(served, [quick.host])
      })
  )
})

describe("F180: a waiter that is interrupted", () => {
  const url = new URL("https://slots.test/")
  type Within = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, unknown>
  const kinds: Readonly<Record<string, () => { readonly within: Within; readonly size: number }>> = {
    "a gate": () => ({ within: Gate.make(1).within, size: 1 }),
    "turns": () => {
      const turns = SlowTurns.make(1, { millis: 1_000, atOnceMax: 1 })
      return { within: (effect) => turns.within(() => effect), size: 1 }
    },
    "slots of a host": () => {
      const slots = HostSlots.make()
      return { within: (effect) => slots.within(url, "fetch", effect), size: requestsPerHostMax }
    },
    "slots with a deadline": () => {
      const slots = HostSlots.make()
      return { within: (effect) => slots.within(url, "fetch", effect, 5_000), size: requestsPerHostMax }
    },
    "taken slots": () => {
      const slots = HostSlots.make()
      return {
        within: (effect) => Effect.scoped(Effect.andThen(slots.take(url, "fetch"), effect)),
        size: requestsPerHostMax
      }
    }
  }

  it.effect.each(Object.keys(kinds))("at any step leaves no slot of %s occupied", (name) =>
    Effect.gen(function*() {
      const leaks: Array<number> = []
      for (let run = 0; run < 120; run++) {
        const [steps, operations] = [run % 30, 2 + Math.floor(run / 30)]
        const { size, within } = kinds[name]!()
        const go = yield* Deferred.make<void>()
        const leaving = yield* Effect.forkChild(within(Deferred.await(go)))
        // The others stay, so that the host is not forgotten with its slots.
        const staying = yield* Effect.replicateEffect(Effect.forkChild(within(Effect.never)), size - 1)
        yield* Effect.yieldNow
        // Yields after a few operations, so that the interruption arrives between any two of them.
        const waiter = yield* Effect.forkChild(
          Effect.provideService(within(Effect.never), References.MaxOpsBeforeYield, operations)
        )
        for (let step = 0; step < 40; step++) yield* Effect.yieldNow
        yield* Deferred.succeed(go, undefined)
        for (let step = 0; step < steps; step++) yield* Effect.yieldNow
        yield* Fiber.interrupt(waiter)
        yield* Fiber.await(leaving)
        let inside = false
        const later = yield* Effect.forkChild(within(Effect.andThen(Effect.sync(() => inside = true), Effect.never)))
        for (let step = 0; step < 10; step++) yield* Effect.yieldNow
        if (!inside) leaks.push(run)
        yield* Fiber.interruptAll([later, ...staying])
      }
      assert.deepStrictEqual(leaks, [])
    }))
})
