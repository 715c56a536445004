import type { Duration } from "effect"
import { Effect, Schedule } from "effect"
import { elapsedMillis } from "./ElapsedMillis.ts"

/** Waiting item; `since` is an `elapsedMillis` time. */
export interface Waiting {
  since: number
  giveUp: () => void
}

/**
 * Creates a set of waiting items. An item that is in it for `millisMax` is told to give up, at most `period` later. One
 * fiber watches all of them: a timer per item would cost more than the work it limits.
 */
export const make = Effect.fnUntraced(function*(millisMax: number, period: Duration.Input) {
  const waiting = new Set<Waiting>()
  const sweep = Effect.map(elapsedMillis, (now) => {
    for (const { giveUp, since } of waiting) if (now - since >= millisMax) giveUp()
  })
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(period)))
  return waiting
})
