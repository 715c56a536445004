import { assert } from "vitest"
import { Fleet, type Settings } from "./Fleet.ts"
import { hunt, type Hunted } from "./Hunt.ts"
import { show, shrink, sumsOf, totals } from "./Report.ts"
import type { Result } from "./Simulation.ts"

/* What the tests of both simulations ask of a fleet. */

/**
 * Timeout of tests: none. All begin at once and wait for their turns on a few processes, so that a common clock would end all
 * of them on a slow machine. Each run has bounds of its own: `Drive` of CPU time, `VirtualTime` of turns and instants, and
 * `Fleet` ends one that makes no progress.
 */
export const noTimeout = 0

/** The number of no bug, of either simulation: one in a process for bugs, with all of them switched off. */
export const noMutant = -1

export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/**
 * Processes of one test file: of the program as it is, and with the bugs in its source. Starting one takes seconds, so all tests
 * of the file share them.
 */
export class Fleets {
  readonly plain = new Fleet(1)
  readonly planted = new Fleet(1)

  async close() {
    await Promise.all([this.plain.close(), this.planted.close()])
  }
}

/** Runs each seed once for all who ask. */
export const once = (fleet: Fleet, settings: Settings) => {
  const ran = new Map<number, Promise<Result>>()
  return (seed: number) => {
    const result = ran.get(seed) ?? fleet.run(seed, settings)
    ran.set(seed, result)
    return result
  }
}

/** Fails with the smallest run that breaks, if one does; answers how often each thing happened in all of them. */
export const allHold = async (fleet: Fleet, settings: Settings, running: ReadonlyArray<Promise<Result>>) => {
  const began = performance.now()
  const results = await Promise.all(running)
  console.log(totals(results, performance.now() - began))
  const failed = results.find(({ broken }) => broken.length > 0)
  if (failed !== undefined) {
    const given = { result: failed, settings }
    // In a real Postgres a run takes seconds, and there are hundreds of shorter ones to try.
    const again = (seed: number, fewer: Settings) => fleet.run(seed, fewer)
    assert.fail(show(settings.postgres === undefined ? await shrink(again, failed, settings) : given))
  }
  return sumsOf(results)
}

/** Two runs of a seed, in which not the same came before, say the same, and one of another seed says something else. */
export const sameTrace = (first: Result, again: Result, other: Result) => {
  assert.notStrictEqual(first.hash, "")
  assert.notStrictEqual(other.hash, first.hash)
  assert.deepStrictEqual(again.log, first.log)
  assert.strictEqual(again.hash, first.hash)
}

/** Fails where the simulation does not find a bug. */
export const findsBug = async (fleet: Fleet, settings: Settings, hunted: Hunted) => {
  const { commands, cpuMillis, found, seed } = await hunt((n, given) => fleet.run(n, given), settings, hunted)
  if (found === undefined) assert.fail(`no seed of ${hunted.seedsMax} finds it`)
  console.log(`seed ${seed}, ${commands} commands, ${cpuMillis} ms of CPU: ${found}`)
}
