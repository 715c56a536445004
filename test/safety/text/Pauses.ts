import { Effect } from "effect"
import { onReference } from "../../support/MachineSpeed.ts"

/** Interval between measurements of the event loop, in milliseconds. */
const sampleMillis = 1
/** Milliseconds below which a pause is brief on any machine. */
const briefMillis = 20

/**
 * Runs an effect; returns its result and its longest event loop pause, in CPU milliseconds of this thread on the
 * reference machine. Time of other processes does not count.
 */
export const pauseIn = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, number], E, R> =>
  Effect.suspend(() => {
    let before = process.threadCpuUsage()
    let longest = 0
    const sample = () => {
      const { system, user } = process.threadCpuUsage(before)
      longest = Math.max(longest, (system + user) / 1_000)
      before = process.threadCpuUsage()
    }
    const timer = setInterval(sample, sampleMillis)
    return Effect.ensuring(
      Effect.map(work, (result) => {
        sample()
        return [result, longest < briefMillis ? longest : onReference(longest)] as const
      }),
      Effect.sync(() => clearInterval(timer))
    )
  })
