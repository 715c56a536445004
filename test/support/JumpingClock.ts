import { Clock, Effect } from "effect"

/** The test's clock with a time of day that `jump` (milliseconds) corrects; what only measures goes on. */
export const jumpingClock = Effect.map(Clock.Clock, (clock) => {
  let correction = 0
  const millis = () => clock.currentTimeMillisUnsafe() + correction
  const nanos = () => BigInt(millis()) * 1_000_000n
  // A test's clock has more members, by which the test turns it.
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
