import { Clock, Effect } from "effect"

/**
 * Milliseconds of a clock that only measures: no correction of the time of day moves it. For limits of time in this process; what is
 * written or told has the time of day.
 */
export const elapsedMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
