import { Clock, Effect } from "effect"

/** Test clock whose time of day `jump` (milliseconds) changes; monotonic time is not affected. */
export const jumpingClock = Effect.map(Clock.Clock, (clock) => {
  let correction = 0
  const millis = () => clock.currentTimeMillisUnsafe() + correction
  const nanos = () => BigInt(millis()) * 1_000_000n
  // A test clock has further members, which tests use to advance it.
  const jumping: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  return {
    jump: (by: number) => void (correction += by),
    within: Effect.provideService(Clock.Clock, jumping)
  }
})
