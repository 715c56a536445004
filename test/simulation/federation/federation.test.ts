import { availableParallelism } from "node:os"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Fleet, type Settings } from "../Fleet.ts"
import { show, shrink, sumsOf, totals } from "../Report.ts"
import type { Result } from "../Simulation.ts"
import { faultKinds, faultsMax } from "./Faults.ts"
import { mutants } from "./Mutants.ts"
import { commandsStandard } from "./Run.ts"

/** Seeds of the suite's budget, in which every kind of fault happens; `npm run simulate:nightly` runs 1,000. */
const seeds = Number(process.env.FEDERATION_SEEDS ?? 5)
const firstSeed = 3
/** A seed's share of the time that all may take on a busy machine, in milliseconds. */
const seedMillisMax = 20_000

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const settings: Settings = {
  federation: true,
  commands: upTo(commandsStandard),
  faults: upTo(faultsMax),
  mutant: undefined,
  logs: false
}

describe("simulation of servers that federate", () => {
  let fleet: Fleet
  const ran = new Map<number, Promise<Result>>()
  const runOnce = (seed: number) => {
    const result = ran.get(seed) ?? fleet.run(seed, settings)
    ran.set(seed, result)
    return result
  }
  beforeAll(() => {
    // It has the other processor, too, when the tests beside it are done.
    fleet = new Fleet(availableParallelism())
  })
  afterAll(() => fleet.close())

  it(
    `invariants I5 to I8, I10 to I12, I16 and I20 hold between servers in ${seeds} seeds, in which every kind of fault happens`,
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
    },
    seeds * seedMillisMax + 240_000
  )

  it("the same seed gives the same trace byte for byte: the first of a process, and after others in each", async () => {
    const first = await runOnce(firstSeed)
    const other = await runOnce(firstSeed + 1)
    assert.notStrictEqual(first.hash, "")
    assert.notStrictEqual(other.hash, first.hash)
    for (const again of await fleet.everywhere(firstSeed, settings)) {
      assert.deepStrictEqual(again.log, first.log)
      assert.strictEqual(again.hash, first.hash)
    }
  }, 300_000)

  it.concurrent.each([
    [910_012, "a boost that was late took the place of the one that came next"],
    [910_022, "an edit of a direct post named nobody any more"],
    [515, "the Undo of a boost was sent once more, after the boost that came next"],
    [910_004, "who had voted was blocked afterwards, and the vote stayed on both sides"],
    [900_007, "a key whose origin was away held up whatever a server had to tell"],
    [900_055, "a block that came after a later follow ended it here and not there"],
    [900_063, "a like was on its way when its author blocked who liked"]
  ])("F44: seed %i holds, in which %s", async (seed) => {
    const result = await fleet.run(seed, settings)
    assert.deepStrictEqual(result.broken, [])
  }, 240_000)

  it.concurrent.each(
    [...mutants.entries()].map(([mutant, { foundAt, name, seedsMax }]) => ({ mutant, foundAt, name, seedsMax }))
  )(
    "finds a bug within $seedsMax seeds: $name",
    async ({ foundAt, mutant, seedsMax }) => {
      const found: Array<Result> = []
      const order = [foundAt, ...upTo(seedsMax).map((n) => n + 1)]
      for (const seed of order) {
        if (found.length > 0) break
        const results = await fleet.each(seed, 1, { ...settings, mutant })
        found.push(...results.filter(({ broken }) => broken.length > 0))
      }
      const [first] = found
      assert.isDefined(first)
      console.log(`seed ${first?.seed}: ${first?.broken[0]}`)
    },
    240_000
  )
})
