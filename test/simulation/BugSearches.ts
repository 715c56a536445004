import type { Settings } from "./Fleet.ts"
import type { Result } from "./Simulation.ts"

/** Invariants that a bug breaks, and seeds that find the bug. */
export interface BugSearch {
  /** Invariants that the bug breaks, by their names in the project's list. */
  readonly breaks: RegExp
  /** Number of first commands that suffice to find the bug with the seed `foundAt`. */
  readonly commands?: number
  /** Seed that found it last, which is tried first. */
  readonly foundAt: number
  /** Number of seeds, from 1 on, within which the bug must be found. */
  readonly seedsMax: number
}

export interface Finding {
  /** The invariant that broke; undefined if no seed found the bug. */
  readonly found: string | undefined
  readonly seed: number
  readonly commands: number
  /** CPU time of all runs of the search, in milliseconds. */
  readonly cpuMillis: number
}

type Run = (seed: number, settings: Settings) => Promise<Result>

/** Looks for a bug in the run that is known to find it, then in whole seeds. A lost process counts as not found. */
export const findBug = async (
  run: Run,
  settings: Settings,
  { breaks, commands = settings.commands.length, foundAt, seedsMax }: BugSearch
): Promise<Finding> => {
  const few = { ...settings, commands: settings.commands.slice(0, commands) }
  const tries = [[foundAt, few] as const, ...Array.from({ length: seedsMax }, (_, n) => [n + 1, settings] as const)]
  let cpuMillis = 0
  for (const [seed, given] of tries) {
    const result = await run(seed, given)
    cpuMillis += result.cpuMillis
    const found = result.hash === "" ? undefined : result.broken.find((text) => breaks.test(text))
    if (found !== undefined) return { found, seed, commands: given.commands.length, cpuMillis }
  }
  return { found: undefined, seed: foundAt, commands, cpuMillis }
}
