import { afterAll, assert, describe, inject, it } from "vitest"
import { bugs, overlappingSeeds, seeds } from "./Budget.ts"
import { faultKinds, faultsMax } from "./FaultPlan.ts"
import { planted as federationPlanted } from "./federation/Mutants.ts"
import type { Settings } from "./Fleet.ts"
import { mutants, planted } from "./Mutants.ts"
import { onceBroken } from "./OnceBroken.ts"
import { commandsStandard } from "./Simulation.ts"
import * as Sources from "./Sources.ts"
import { allHold, findsBug, Fleets, noMutant, noTimeout, once, sameTrace, upTo } from "./Suite.ts"

const [firstSeed, otherSeed] = seeds
const settings: Settings = {
  federation: false,
  commands: upTo(commandsStandard),
  faults: upTo(faultsMax),
  mutant: undefined,
  logs: false
}

const fleets = new Fleets()
afterAll(() => fleets.close())

// All tests start at once, so that no process waits for the other; each runs its requests in test order.
describe.concurrent("simulation", () => {
  const { plain, planted: fleet } = fleets
  const runOnce = once(plain, settings)
  const switchedOff = once(fleet, { ...settings, mutant: noMutant })

  it(
    `F103: invariants I1 to I4, I9 to I13, I15, I16, I18, I19, I22 to I30, I32, I33, I35 and I36 hold in ${seeds.length} seeds, in which every kind of fault happens`,
    async () => {
      const sums = await allHold(plain, settings, seeds.map(runOnce))
      for (const kind of faultKinds) assert.isAbove(sums.get(kind) ?? 0, 0, kind)
      const eventNames = [
        "media uploaded",
        "media attached",
        "media sweep",
        "request accepted",
        "targeted",
        "report",
        "spam held",
        "spam approved",
        "spam rejected",
        "filter changed",
        "notification dismissed",
        "suggestion dismissed",
        "limit reached",
        "push",
        "push lost",
        "push repeated",
        "poll ended",
        "suspended",
        "suspended account read",
        "reply pending",
        "reply accepted",
        "quote pending",
        "quote accepted",
        "transfer step",
        "domain_blocks finished",
        "follows finished",
        "archive_in finished",
        "archive_undo finished"
      ]
      for (const what of eventNames) {
        assert.isAbove(sums.get(what) ?? 0, 0, what)
      }
    },
    noTimeout
  )

  it.each(onceBroken.filter(({ shortest }) => shortest !== undefined))(
    "$breaks: seed $seed holds in its shortest run, in which $what",
    async ({ given, seed, shortest }) => {
      const { broken } = await plain.run(seed, { ...settings, ...given, ...shortest })
      assert.deepStrictEqual(broken, [])
    },
    noTimeout
  )

  it(
    `F61: I1 to I4, I9 to I13, I19 to I21 and I31 hold in ${overlappingSeeds.length} seeds in which transactions overlap in a real Postgres`,
    async () => {
      const overlapping = { ...settings, postgres: inject("postgres") }
      const sums = await allHold(plain, overlapping, overlappingSeeds.map((seed) => plain.run(seed, overlapping)))
      for (const what of ["wait for a lock", "takeover", "stale commit refused", "bound reached"]) {
        assert.isAbove(sums.get(what) ?? 0, 0, what)
      }
    },
    noTimeout
  )

  it.each(
    [...mutants.entries()].map(([number, mutant]) => ({ number, mutant, name: mutant.name }))
      .filter(({ name }) => bugs.has(name))
  )(
    "finds a bug: $name",
    async ({ mutant, number }) => {
      const postgres = mutant.overlapping ? inject("postgres") : undefined
      await findsBug(fleet, { ...settings, mutant: number, postgres }, mutant)
    },
    noTimeout
  )

  // Separate processes, where only the run sets timers: a test runner may set its own.
  it(
    "the same seed gives the same trace byte for byte: the first of a process, and after bugs in another",
    async () => {
      sameTrace(await runOnce(firstSeed), await switchedOff(firstSeed), await runOnce(otherSeed))
    },
    noTimeout
  )

  it("F61: every injected bug applies to the source, and changes nothing while disabled", async () => {
    assert.isAbove(planted.size, 0)
    for (const [name, bug] of [...planted, ...federationPlanted]) Sources.check(name, bug)
    assert.strictEqual((await switchedOff(firstSeed)).hash, (await runOnce(firstSeed)).hash)
  }, noTimeout)
})
