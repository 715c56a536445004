/* Measures the cost of hostile texts. */

/** CPU time of this thread only: compiler and GC threads block nothing. */
const millis = (run: () => unknown) => {
  const start = process.threadCpuUsage()
  run()
  const { system, user } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

/**
 * Returns the CPU time in milliseconds, the best of five runs, so that other processes on this machine matter less. The
 * first run below `enough` is the last.
 */
export const best = (run: () => unknown, enough = 0) => {
  let least = Infinity
  for (let runs = 0; runs < 5 && least > enough; runs++) least = Math.min(least, millis(run))
  return least
}

/** Returns a text of this length that repeats `seed`. */
export const fill = (seed: string, units: number) => seed.repeat(Math.ceil(units / seed.length)).slice(0, units)
