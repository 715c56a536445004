import { assert } from "vitest"
import type { Fleet, Settings } from "./Fleet.ts"
import { show, shrink, sumsOf, totals } from "./Report.ts"
import type { Result } from "./Simulation.ts"

/* What the tests of both simulations ask of a fleet. */

export const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Runs each seed once, whoever asks for it. */
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

/** The first run of a process, and one after others in each process of the fleet, say the same. */
export const sameTrace = async (fleet: Fleet, settings: Settings, first: Result, other: Result) => {
  assert.notStrictEqual(first.hash, "")
  assert.notStrictEqual(other.hash, first.hash)
  for (const again of await fleet.everywhere(first.seed, settings)) {
    assert.deepStrictEqual(again.log, first.log)
    assert.strictEqual(again.hash, first.hash)
  }
}

/** Looks for a bug in the seed that is known to find it, then in others; a process that was lost has found nothing. */
export const findsBug = async (
  run: (seed: number) => Promise<Result>,
  { breaks = /./, foundAt, seedsMax }: { readonly breaks?: RegExp; readonly foundAt: number; readonly seedsMax: number }
) => {
  for (const seed of [foundAt, ...upTo(seedsMax).map((n) => n + 1)]) {
    const { broken, hash } = await run(seed)
    const found = hash === "" ? undefined : broken.find((text) => breaks.test(text))
    if (found !== undefined) return console.log(`seed ${seed}: ${found}`)
  }
  assert.fail(`no seed of ${seedsMax} finds it`)
}
