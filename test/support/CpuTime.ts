/* CPU time of work on this thread. */

/** CPU time of this thread only: compiler and GC threads block nothing. */
const millis = (run: () => unknown) => {
  const start = process.threadCpuUsage()
  run()
  const { system, user } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

/** CPU milliseconds that `work` takes on an idle machine of the kind that the limits of the tests are chosen for. */
const referenceMillis = 4
const work = () => {
  let sum = 0
  for (let n = 0; n < 4_000_000; n++) sum += n
  return sum
}

/** Returns how many times slower this machine is now than that one, at least 1: neighbours slow down its processors. */
export const slowness = () => Math.max(1, Math.min(millis(work), millis(work), millis(work)) / referenceMillis)

/** Converts CPU milliseconds just measured on this machine to those of the reference machine. */
export const onReference = (taken: number) => taken / slowness()

/**
 * Returns the CPU time in milliseconds of the reference machine, the best of five runs, so that other processes on this
 * machine matter less. The first run below `enough` is the last.
 */
export const best = (run: () => unknown, enough = 0) => {
  let least = Infinity
  for (let runs = 0; runs < 5 && least > enough; runs++) {
    const taken = millis(run)
    least = Math.min(least, taken < enough ? taken : onReference(taken))
  }
  return least
}

/** Returns a text of this length that repeats `seed`. */
export const fill = (seed: string, units: number) => seed.repeat(Math.ceil(units / seed.length)).slice(0, units)
