import { Clock, Effect } from "effect"

/**
 * Monotonic time in milliseconds, which corrections of the system clock do not change. Use it for timeouts in this
 * process; stored and displayed times use the system clock.
 */
export const elapsedMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
