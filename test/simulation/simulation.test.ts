import { availableParallelism } from "node:os"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { faultKinds, faultsMax } from "./Faults.ts"
import { Fleet, type Settings } from "./Fleet.ts"
import { mutants, planted } from "./Mutants.ts"
import { show, shrink, sumsOf, totals } from "./Report.ts"
import { commandsStandard, type Result } from "./Simulation.ts"
import * as Sources from "./Sources.ts"

/** Seeds of the suite's budget, in which every kind of fault happens; `npm run simulate:nightly` runs 10,000. */
const seeds = Number(process.env.SIMULATION_SEEDS ?? 17)
/** The first of them, in which answers of commits are lost and nothing else happens. */
const firstSeed = 18
/** The same of those in which transactions overlap. */
const overlappingSeeds = Number(process.env.OVERLAPPING_SEEDS ?? 4)
/** A seed's share of the time that all may take on a busy machine, in milliseconds; alone it takes a second. */
const seedMillisMax = 6_000

/** The number of no mutant: a process for mutants in which none is switched on. */
const noMutant = mutants.length

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const settings: Settings = {
  federation: false,
  commands: upTo(commandsStandard),
  faults: upTo(faultsMax),
  mutant: undefined,
  logs: false
}

describe("simulation", () => {
  let fleet: Fleet
  const ran = new Map<number, Promise<Result>>()
  const runOnce = (seed: number) => {
    const result = ran.get(seed) ?? fleet.run(seed, settings)
    ran.set(seed, result)
    return result
  }
  beforeAll(() => {
    // The other processor is for the tests beside it.
    fleet = new Fleet(Math.max(1, availableParallelism() - 1))
  })
  afterAll(() => fleet.close())

  it(
    `invariants I1 to I4, I9 to I13, I15, I16 and I19 hold in ${seeds} seeds, in which every kind of fault happens`,
    async () => {
      const began = performance.now()
      const results = await Promise.all(upTo(seeds).map((n) => runOnce(firstSeed + n)))
      console.log(totals(results, performance.now() - began))
      const failed = results.find(({ broken }) => broken.length > 0)
      if (failed !== undefined) {
        assert.fail(show(await shrink((seed, more) => fleet.run(seed, more), failed, settings)))
      }
      const sums = sumsOf(results)
      for (const kind of faultKinds) assert.isAbove(sums.get(kind) ?? 0, 0, kind)
      assert.isAbove(sums.get("stale commit refused") ?? 0, 0, "a frozen node's late commit")
      for (const what of ["media uploaded", "media attached", "media sweep"]) {
        assert.isAbove(sums.get(what) ?? 0, 0, what)
      }
    },
    seeds * seedMillisMax + 180_000
  )

  // In processes of their own, whose timers are all the run's: a test runner may set some of its own meanwhile.
  it("the same seed gives the same trace byte for byte: the first of a process, and after others", async () => {
    const first = await runOnce(firstSeed)
    const other = await runOnce(firstSeed + 1)
    assert.notStrictEqual(first.hash, "")
    assert.notStrictEqual(other.hash, first.hash)
    for (const again of await fleet.everywhere(firstSeed, settings)) {
      assert.deepStrictEqual(again.log, first.log)
      assert.strictEqual(again.hash, first.hash)
    }
  }, 300_000)

  it(
    `F61: I1 to I4, I9 to I13 and I19 to I21 hold in ${overlappingSeeds} seeds in which transactions overlap in a real Postgres`,
    async () => {
      const began = performance.now()
      const results = await fleet.each(1, overlappingSeeds, { ...settings, postgres: inject("postgres") })
      console.log(totals(results, performance.now() - began))
      const failed = results.find(({ broken }) => broken.length > 0)
      if (failed !== undefined) assert.fail(show({ result: failed, settings }))
      const sums = sumsOf(results)
      for (const what of ["wait for a lock", "takeover", "stale commit refused"]) {
        assert.isAbove(sums.get(what) ?? 0, 0, what)
      }
    },
    overlappingSeeds * seedMillisMax + 120_000
  )

  it("F61: every bug that is put into the source fits it, and changes nothing where it is switched off", async () => {
    assert.isAbove(planted.size, 0)
    for (const [name, bug] of planted) Sources.check(name, bug)
    const fresh = await fleet.run(firstSeed, { ...settings, mutant: noMutant })
    assert.strictEqual(fresh.hash, (await runOnce(firstSeed)).hash)
  }, 300_000)

  it.concurrent.each([...mutants.entries()].map(([number, mutant]) => ({ number, mutant, name: mutant.name })))(
    "finds a bug: $name",
    async ({ mutant: { breaks = /./, commands = commandsStandard, foundAt, overlapping, seedsMax }, number }) => {
      const found: Array<Result> = []
      const order = [foundAt, ...upTo(seedsMax).map((n) => n + 1)]
      for (const seed of order) {
        if (found.length > 0) break
        const postgres = overlapping ? inject("postgres") : undefined
        const result = await fleet.run(seed, { ...settings, commands: upTo(commands), mutant: number, postgres })
        if (result.hash !== "" && result.broken.some((text) => breaks.test(text))) found.push(result)
      }
      const [first] = found
      assert.isDefined(first)
      console.log(`seed ${first?.seed}: ${first?.broken.find((text) => breaks.test(text))}`)
    },
    240_000
  )
})
