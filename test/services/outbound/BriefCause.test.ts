import { assert, it } from "@effect/vitest"
import { Cause, Effect } from "effect"
import { briefCause } from "../../../src/services/outbound/BriefCause.ts"
import { Unreachable } from "../../../src/services/outbound/OutboundError.ts"

const causeOf = (effect: Effect.Effect<unknown, unknown>) => Effect.flip(Effect.sandbox(effect))

it.effect("F51: an upstream failure is one line in the log, our own fault is logged in full", () =>
  Effect.gen(function*() {
    const gone = new Unreachable({ url: "https://example.org/me", reason: "name" })
    assert.strictEqual(
      briefCause(yield* causeOf(Effect.fail(gone))),
      "https://example.org/me cannot be reached: its name has no address"
    )
    assert.strictEqual(
      briefCause(yield* causeOf(Effect.fail("its handle is not confirmed"))),
      "its handle is not confirmed"
    )
    const late = yield* causeOf(Effect.timeout(Effect.never, "0 millis"))
    assert.isString(briefCause(late))
    for (const fault of [Effect.die(new TypeError("x")), Effect.fail(new TypeError("x")), Effect.die(gone)]) {
      const cause = yield* causeOf(fault)
      assert.strictEqual(briefCause(cause), cause)
    }
    const both = Cause.combine(Cause.fail(gone), Cause.die(new TypeError("x")))
    assert.strictEqual(briefCause(both), both)
  }))
