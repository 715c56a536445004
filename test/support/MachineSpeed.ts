/* How fast this machine is now, beside the one that the limits of the tests are chosen for. */

/** CPU time of this thread only: compiler and GC threads block nothing. */
const millis = (run: () => unknown) => {
  const start = process.threadCpuUsage()
  run()
  const { system, user } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

/** Milliseconds that `work` takes on the reference machine: an idle one of two cores, on which the suite takes 12 minutes. */
const referenceMillis = 4.7
const text = "#a bé <b> https://a.b/ ".repeat(300)
/*
 * Reads text and allocates, as the measured code does: neighbours that share a processor's caches slow this down twice
 * as much as arithmetic.
 */
const work = () => {
  let parts = 0
  for (let n = 0; n < 64; n++) {
    const words = `${text}${n}`.normalize("NFKC").split(/[ #<]/u).map((word) => ({ word, longer: `${word}x` }))
    parts += words.filter(({ longer }) => longer.length > 2).length
  }
  return parts
}

// Warms up the compiler: later runs take equal time.
for (let n = 0; n < 12; n++) work()

/** Some kernels count CPU time in ticks of up to 10 ms, so that less work than this measures as nothing or as a tick. */
const measuredMillisMin = 60

const workMillis = () => {
  let [taken, runs] = [0, 0]
  for (; taken < measuredMillisMin; runs++) taken += millis(work)
  return taken / runs
}

/** Returns how many times slower this machine is now than that one, at least 1: neighbours slow down its processors. */
export const slowness = () => {
  return Math.max(1, Math.min(workMillis(), workMillis(), workMillis()) / referenceMillis)
}

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
 * Returns the CPU time in milliseconds of the reference machine, the best of ten runs, so that other processes on this
 * machine matter less. The first run below `enough` is the last. A run counts with the lower slowness before and after
 * it: a moment of slowness beside it excuses nothing.
 */
export const best = (run: () => unknown, enough = 0) => {
  let [least, before] = [Infinity, Infinity]
  for (let runs = 0; runs < 10 && least > enough; runs++) {
    const taken = millis(run)
    if (taken < enough) return taken
    if (before === Infinity) before = slowness()
    const after = slowness()
    least = Math.min(least, taken / Math.min(before, after))
    before = after
  }
  return least
}

/** Returns a text of this length that repeats `seed`. */
export const fill = (seed: string, units: number) => seed.repeat(Math.ceil(units / seed.length)).slice(0, units)
