import type { Settings } from "./Fleet.ts"
import type { Result } from "./Simulation.ts"

/** Maximum runs of a search for the shortest trace. */
const attemptsMax = 120

/** A failure with the commands and faults that suffice for it. */
export interface Shortest {
  readonly result: Result
  readonly settings: Settings
}

type Run = (seed: number, settings: Settings) => Promise<Result>

/** Returns the invariants that a run breaks; a shrunk run must break one of them. */
const brokenInvariants = ({ broken }: Result) => new Set(broken.map((text) => text.split(":")[0] ?? text))

/** Removes faults, then commands, in ever smaller chunks down to single ones, as long as the run still fails. */
export const shrink = async (run: Run, failed: Result, settings: Settings): Promise<Shortest> => {
  let best: Shortest = { result: failed, settings }
  let attempts = 0
  const fails = async (shorter: Settings) => {
    if (++attempts > attemptsMax) return false
    const result = await run(failed.seed, { ...shorter, logs: false })
    const same = [...brokenInvariants(result)].some((name) => brokenInvariants(failed).has(name))
    if (same) best = { result, settings: shorter }
    return same
  }
  const reduce = async (of: "faults" | "commands") => {
    for (let size = Math.ceil(best.settings[of].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < best.settings[of].length;) {
        const shorter = best.settings[of].filter((_, n) => n < at || n >= at + size)
        if (!(await fails({ ...best.settings, [of]: shorter }))) at += size
      }
    }
  }
  await reduce("faults")
  await reduce("commands")
  return best
}

/** Formats the shortest trace, with the command that replays it. */
export const show = ({ result, settings }: Shortest) =>
  [
    `seed ${result.seed} BREAKS:`,
    ...result.broken.map((text) => `  ${text}`),
    `The shortest failing run has ${settings.commands.length} commands:`,
    `  npm run simulate -- ${
      settings.federation ? "--federation " : settings.postgres === undefined ? "" : "--overlapping "
    }${settings.consents ? "--consents " : ""}--seed ${result.seed} --commands ${settings.commands} --faults ${
      settings.faults || "''"
    }` +
    (settings.mutant === undefined ? "" : ` --mutant ${settings.mutant}`),
    ...result.log.map((line) => `  ${line}`)
  ].join("\n")

/** Sums the counts of many runs. */
export const sumsOf = (results: ReadonlyArray<Result>): ReadonlyMap<string, number> => {
  const sums = new Map<string, number>()
  for (const { counts } of results) {
    for (const [what, times] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + times)
  }
  return sums
}

/** Formats the figures of many runs. */
export const totals = (results: ReadonlyArray<Result>, millis: number) => {
  const sums = sumsOf(results)
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0)
  return `${results.length} seeds, ${results.filter(({ broken }) => broken.length > 0).length} failed; ` +
    `${Math.round(sum((r) => r.virtualMillis) / 1000)} s of virtual time in ${(millis / 1000).toFixed(1)} s ` +
    `(${Math.round(sum((r) => r.cpuMillis) / Math.max(1, results.length))} ms of CPU a seed); ` +
    [...sums].toSorted().map(([what, times]) => `${what} ${times}`).join(", ")
}
