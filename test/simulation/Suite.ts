import { assert } from "vitest"
import type { Fleet, Settings } from "./Fleet.ts"
import { show, shrink, sumsOf, totals } from "./Report.ts"
import type { Result } from "./Simulation.ts"

/* What the tests of both simulations ask of a fleet. */

export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Runs each seed once for all who ask. */
export const once = (fleet: () => Fleet, settings: Settings) => {
  const ran = new Map<number, Promise<Result>>()
  return (seed: number) => {
    const result = ran.get(seed) ?? fleet().run(seed, settings)
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

/** What is known of a bug: what it breaks, and where it is looked for. */
export interface Sought {
  readonly breaks?: RegExp
  readonly commands?: number
  readonly foundAt: number
  readonly seedsMax: number
}

/** Looks for a bug in the run that is known to find it, then in whole seeds; a process that was lost has found nothing. */
export const findsBug = async (
  fleet: Fleet,
  settings: Settings,
  { breaks = /./, commands = settings.commands.length, foundAt, seedsMax }: Sought
) => {
  const few = { ...settings, commands: settings.commands.slice(0, commands) }
  const tried = [[foundAt, few] as const, ...upTo(seedsMax).map((n) => [n + 1, settings] as const)]
  for (const [seed, given] of tried) {
    const { broken, hash } = await fleet.run(seed, given)
    const found = hash === "" ? undefined : broken.find((text) => breaks.test(text))
    if (found !== undefined) return console.log(`seed ${seed}, ${given.commands.length} commands: ${found}`)
  }
  assert.fail(`no seed of ${seedsMax} finds it`)
}
