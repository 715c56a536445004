import { afterAll, assert, describe, it } from "vitest"
import { federationBugs, federationSeeds } from "../Budget.ts"
import type { Settings } from "../Fleet.ts"
import { allHold, findsBug, Fleets, noMutant, noTimeout, once, sameTrace, upTo } from "../Suite.ts"
import { faultKinds, faultsMax } from "./FaultPlan.ts"
import { mutants } from "./Mutants.ts"
import { onceBroken } from "./OnceBroken.ts"
import { commandsStandard } from "./Run.ts"

const [firstSeed, otherSeed] = federationSeeds
const settings: Settings = {
  federation: true,
  commands: upTo(commandsStandard),
  faults: upTo(faultsMax),
  mutant: undefined,
  logs: false
}

const fleets = new Fleets()
afterAll(() => fleets.close())

describe.concurrent("simulation of federating servers", () => {
  const { plain, planted } = fleets
  const runOnce = once(plain, settings)

  it(
    `invariants I5 to I8, I10 to I12, I16 and I20 hold between servers in ${federationSeeds.length} seeds, in which every kind of fault happens`,
    async () => {
      const sums = await allHold(plain, settings, federationSeeds.map(runOnce))
      for (const kind of faultKinds) assert.isAbove(sums.get(kind) ?? 0, 0, kind)
    },
    noTimeout
  )

  it.each(onceBroken.filter(({ shortest }) => shortest !== undefined))(
    "F44: seed $seed holds in its shortest run, in which $what",
    async ({ seed, shortest }) => {
      const { broken } = await plain.run(seed, { ...settings, ...shortest })
      assert.deepStrictEqual(broken, [])
    },
    noTimeout
  )

  it.each(
    [...mutants.entries()].map(([number, mutant]) => ({ number, mutant, name: mutant.name }))
      .filter(({ name }) => federationBugs.has(name))
  )(
    "finds a bug: $name",
    ({ mutant, number }) => findsBug(planted, { ...settings, mutant: number }, mutant),
    noTimeout
  )

  it(
    "the same seed gives the same trace byte for byte: the first of a process, and after bugs in another",
    async () => {
      const first = await runOnce(firstSeed)
      sameTrace(first, await planted.run(firstSeed, { ...settings, mutant: noMutant }), await runOnce(otherSeed))
    },
    noTimeout
  )
})
