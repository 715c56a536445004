import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { federationBugs, federationSeeds } from "../Budget.ts"
import { Fleet, type Settings } from "../Fleet.ts"
import { allHold, findsBug, once, sameTrace, upTo } from "../Suite.ts"
import { faultKinds, faultsMax } from "./Faults.ts"
import { mutants } from "./Mutants.ts"
import { onceBroken } from "./OnceBroken.ts"
import { commandsStandard } from "./Run.ts"

const [firstSeed, otherSeed] = federationSeeds
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
  /** A process for seeds, and one for bugs. */
  let fleet: Fleet
  let other: Fleet
  const runOnce = once(() => fleet, settings)
  beforeAll(() => {
    fleet = new Fleet(1)
    other = new Fleet(1)
  })
  afterAll(() => Promise.all([fleet.close(), other.close()]))

  it(
    `invariants I5 to I8, I10 to I12, I16 and I20 hold between servers in ${federationSeeds.length} seeds, in which every kind of fault happens`,
    async () => {
      const sums = await allHold(fleet, settings, federationSeeds.map(runOnce))
      for (const kind of faultKinds) assert.isAbove(sums.get(kind) ?? 0, 0, kind)
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

  it.each(
    [...mutants.entries()].map(([number, mutant]) => ({ number, mutant, name: mutant.name }))
      .filter(({ name }) => federationBugs.has(name))
  )(
    "finds a bug: $name",
    ({ mutant, number }) => findsBug(other, { ...settings, mutant: number }, mutant),
    waitMillisMax
  )

  it(
    "the same seed gives the same trace byte for byte: the first of a process, and after bugs in another",
    async () => {
      const first = await runOnce(firstSeed)
      sameTrace(first, await other.run(firstSeed, settings), await runOnce(otherSeed))
    },
    waitMillisMax
  )
})
