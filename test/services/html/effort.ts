/* What hostile texts cost. */

const millis = (run: () => unknown) => {
  const start = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** CPU time in milliseconds, the best of some runs, so that another process on this machine does not decide. */
export const best = (run: () => unknown) => Math.min(...Array.from({ length: 5 }, () => millis(run)))

/** So many characters of the same again and again. */
export const fill = (seed: string, units: number) => seed.repeat(Math.ceil(units / seed.length)).slice(0, units)
