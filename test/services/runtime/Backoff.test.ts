import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { inboundBackoff } from "../../../src/services/federation/inbox/InboundActivities.ts"
import { deliveryBackoff } from "../../../src/services/federation/outbox/Retries.ts"
import { agendaBackoff } from "../../../src/services/intents/AgendaEntries.ts"
import { operatorBackoff } from "../../../src/services/intents/OperatorCommands.ts"
import { type Backoff, delayMillis, next } from "../../../src/services/runtime/Backoff.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const part = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const backoffs = Schema.Struct({
  baseMillis: whole(1, 100_000),
  growth: Schema.Union([
    Schema.Struct({ factor: whole(1, 5) }),
    Schema.Struct({ power: whole(1, 4), unitMillis: whole(1, 2_000) })
  ]),
  jitter: part,
  capMillis: whole(1, 100_000_000),
  triesMax: whole(1, 20)
})

it.prop("delays grow monotonically up to the cap for the same random number, which adds its part", [
  backoffs,
  whole(1, 20),
  part
], ([backoff, tries, chance]) => {
  const delay = delayMillis(backoff, tries, chance)
  assert.isAtMost(delay, backoff.capMillis)
  assert.isAtMost(delay, delayMillis(backoff, tries + 1, chance))
  assert.isAtLeast(delay, delayMillis(backoff, tries, 0))
  assert.isAtMost(delay, Math.ceil(delayMillis(backoff, tries, 0) * (1 + backoff.jitter) + 1))
})

it.effect("there is no delay after the last attempt", () =>
  Effect.gen(function*() {
    const backoff = { ...deliveryBackoff, triesMax: 3 }
    assert.isDefined(yield* next(backoff, 2))
    assert.isUndefined(yield* next(backoff, 3))
  }))

it("each queue's numbers give the documented delays", () => {
  const seconds = (backoff: Backoff, chance: number) =>
    Array.from({ length: backoff.triesMax - 1 }, (_, n) => delayMillis(backoff, n + 1, chance) / 1_000)
  const hours = (backoff: Backoff) => seconds(backoff, 0).reduce((sum, delay) => sum + delay, 0) / 3_600
  assert.closeTo(hours(agendaBackoff), 25, 0.5)
  assert.closeTo(hours(operatorBackoff) * 60, 67, 0.5)
  assert.deepStrictEqual(seconds(inboundBackoff, 0), [10, 20, 40, 80, 160, 320, 640])
  assert.deepStrictEqual(seconds(deliveryBackoff, 0).slice(0, 6), [15, 16, 31, 96, 271, 640])
  assert.deepStrictEqual(seconds(deliveryBackoff, 1).slice(0, 6), [15, 16.5, 39, 136.5, 399, 952.5])
})
