import { assert } from "vitest"
import { type BugSearch, findBug } from "./BugSearches.ts"
import { Fleet, type Settings } from "./Fleet.ts"
import { show, shrink, sumsOf, totals } from "./Report.ts"
import type { Result } from "./Simulation.ts"

/* Runs of both simulations' tests in a fleet. */

/**
 * No test timeout. All tests start at once and wait for a few processes, so a common timeout would end them on a slow
 * machine. Each run has its own bounds: `Drive` for CPU time, `VirtualTime` for turns and instants, and `Fleet` ends a
 * run without progress.
 */
export const noTimeout = 0

/** Number of no mutant in either simulation, for processes that run without bugs. */
export const noMutant = -1

export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/**
 * Processes of the suite: for the plain program, and with planted bugs. Compiling and planning are expensive, so both
 * simulations share them.
 */
export class Fleets {
  readonly plain = new Fleet(1)
  readonly planted = new Fleet(1)

  async close() {
    await Promise.all([this.plain.close(), this.planted.close()])
  }
}

/** Runs each seed once and shares its result. */
export const once = (fleet: Fleet, settings: Settings) => {
  const ran = new Map<number, Promise<Result>>()
  return (seed: number) => {
    const result = ran.get(seed) ?? fleet.run(seed, settings)
    ran.set(seed, result)
    return result
  }
}

/** Fails with the smallest broken run, if any; returns the counts of events in all runs. */
export const allHold = async (fleet: Fleet, settings: Settings, running: ReadonlyArray<Promise<Result>>) => {
  const began = performance.now()
  const results = await Promise.all(running)
  console.log(totals(results, performance.now() - began))
  const failed = results.find(({ broken }) => broken.length > 0)
  if (failed !== undefined) {
    const given = { result: failed, settings }
    // On a real Postgres a run takes seconds, and shrinking would take hundreds of runs.
    const again = (seed: number, fewer: Settings) => fleet.run(seed, fewer)
    assert.fail(show(settings.postgres === undefined ? await shrink(again, failed, settings) : given))
  }
  return sumsOf(results)
}

/** Checks that two runs of a seed after different runs give the same trace, and another seed a different one. */
export const sameTrace = (first: Result, again: Result, other: Result) => {
  assert.notStrictEqual(first.hash, "")
  assert.notStrictEqual(other.hash, first.hash)
  assert.deepStrictEqual(again.log, first.log)
  assert.strictEqual(again.hash, first.hash)
}

/** Fails if the simulation does not find a bug. */
export const findsBug = async (fleet: Fleet, settings: Settings, search: BugSearch) => {
  const { commands, cpuMillis, found, seed } = await findBug((n, given) => fleet.run(n, given), settings, search)
  if (found === undefined) assert.fail(`no seed of ${search.seedsMax} finds it`)
  console.log(`seed ${seed}, ${commands} commands, ${cpuMillis} ms of CPU: ${found}`)
}
