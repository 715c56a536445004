/* How fast this machine is now, beside the one that the limits of the tests are chosen for. */

/** CPU time of this thread only: compiler and GC threads block nothing. */
const millis = (run: () => unknown) => {
  const start = process.threadCpuUsage()
  run()
  const { system, user } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

/** Milliseconds that `work` takes on the reference machine: an idle one of two cores, on which the suite takes 12 minutes. */
const referenceMillis = 4
const work = () => {
  let sum = 0
  for (let n = 0; n < 4_000_000; n++) sum += n
  return sum
}

/** Returns how many times slower this machine is now than that one, at least 1: neighbours slow down its processors. */
export const slowness = () => Math.max(1, Math.min(millis(work), millis(work), millis(work)) / referenceMillis)

const slowdownMax = 10

/** Like `slowness`, by the wall clock: other processes of this machine count. At most 10. */
const slowdown = () => {
  const times = Array.from({ length: 9 }, () => {
    const began = performance.now()
    work()
    return performance.now() - began
  }).toSorted((a, b) => a - b)
  return Math.min(slowdownMax, Math.max(1, times[4]! / referenceMillis))
}

/** Returns the milliseconds of the wall clock that work may take now, if it may take `millis` on the reference machine. */
export const allowedMillis = (millis: number) => millis * slowdown()

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
