import { availableParallelism } from "node:os"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Fleet, type Settings } from "../Fleet.ts"
import { allHold, findsBug, once, sameTrace, upTo } from "../Suite.ts"
import { faultKinds, faultsMax } from "./Faults.ts"
import { mutants } from "./Mutants.ts"
import { onceBroken } from "./OnceBroken.ts"
import { commandsStandard } from "./Run.ts"

/** Seeds of the suite's budget, in which every kind of fault happens; `npm run simulate:nightly` runs 1,000 and those that broke once. */
const seeds = [1_500_016, 1_500_027]
const [firstSeed = 0, otherSeed = 0] = seeds
/** How long a test may wait where others have the processors, in milliseconds; what a run takes of them has a bound of its own. */
const waitMillisMax = 900_000

const settings: Settings = {
  federation: true,
  commands: upTo(commandsStandard),
  faults: upTo(faultsMax),
  mutant: undefined,
  logs: false
}

describe("simulation of servers that federate", () => {
  let fleet: Fleet
  const runOnce = once(() => fleet, settings)
  beforeAll(() => {
    // Two at least, which are compared.
    fleet = new Fleet(Math.max(2, availableParallelism()))
  })
  afterAll(() => fleet.close())

  it(
    `invariants I5 to I8, I10 to I12, I16 and I20 hold between servers in ${seeds.length} seeds, in which every kind of fault happens`,
    async () => {
      const sums = await allHold(fleet, settings, seeds.map(runOnce))
      for (const kind of faultKinds) assert.isAbove(sums.get(kind) ?? 0, 0, kind)
    },
    waitMillisMax
  )

  it(
    "the same seed gives the same trace byte for byte: the first of a process, and after others in another",
    async () => {
      const first = await runOnce(firstSeed)
      sameTrace(first, await fleet.elsewhere(first, settings), await runOnce(otherSeed))
    },
    waitMillisMax
  )

  it.each(onceBroken.filter(({ shortest }) => shortest !== undefined))(
    "F44: seed $seed holds in its shortest run, in which $what",
    async ({ seed, shortest }) => {
      const { broken } = await fleet.run(seed, { ...settings, ...shortest })
      assert.deepStrictEqual(broken, [])
    },
    waitMillisMax
  )

  it.concurrent.each([...mutants.entries()].map(([number, mutant]) => ({ number, mutant, name: mutant.name })))(
    "finds a bug: $name",
    ({ mutant, number }) => findsBug(fleet, { ...settings, mutant: number }, mutant),
    waitMillisMax
  )
})
