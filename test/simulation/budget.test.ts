import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Budget from "./Budget.ts"
import type { BugSearch } from "./BugSearches.ts"
import { hasConsents } from "./ConsentPlan.ts"
import * as FederationMutants from "./federation/Mutants.ts"
import * as Mutants from "./Mutants.ts"

const { scripts }: { readonly scripts: Record<string, string> } = JSON.parse(
  readFileSync(`${import.meta.dirname}/../../package.json`, "utf8")
)
const nightly = (scripts["simulate:nightly"] ?? "").split(" && ").map((command) =>
  command.replace(/^node test\/simulation\/simulate\.ts /, "")
)

/** Seeds whose themes are counted, and the least share of them about consent, polls and moderation. */
const countedSeeds = 2_000
const consentShareMin = 0.15

/** Returns the numbers of the invariants that a bug breaks; breaking one of them is enough. */
const numbersOf = ({ breaks }: BugSearch) =>
  Array.from(breaks.source.matchAll(/I(?:\(\?:([\d|]+)\)|(\d+))/g), ([, several, one = ""]) => several ?? one)
    .flatMap((numbers) => numbers.split("|"))

describe("F2: long tests have a budget in the suite", () => {
  it("simulate:nightly looks for every bug, and runs the seeds that broke once and many seeds of each kind", () => {
    for (const kind of ["", "--federation "]) {
      for (const what of ["--mutants", "--kept"]) assert.include(nightly, `${kind}${what}`)
    }
    const runs = (kind: string) => nightly.some((command) => new RegExp(`^${kind}--runs \\d{3,}$`).test(command))
    assert.deepStrictEqual(["", "--federation ", "--overlapping "].map(runs), [true, true, true])
  })

  it("more than 15% of all seeds are about consent, polls and moderation", () => {
    const seeds = Array.from({ length: countedSeeds }, (_, n) => n + 1)
    assert.isAbove(seeds.filter(hasConsents).length / countedSeeds, consentShareMin)
  })

  for (
    const [kind, mutants, bugs] of [
      ["one server", Mutants.mutants, Budget.bugs],
      ["servers that federate", FederationMutants.mutants, Budget.federationBugs]
    ] as const
  ) {
    it(`of ${kind} the suite looks for a bug that breaks the same invariant as any that it leaves out`, () => {
      const chosen = mutants.filter(({ name }) => bugs.has(name))
      assert.strictEqual(chosen.length, bugs.size, "a name without a bug")
      const numbers = new Set(chosen.flatMap(numbersOf))
      assert.isFalse(numbers.has(""))
      assert.deepStrictEqual(
        mutants.filter((bug) => !numbersOf(bug).some((number) => numbers.has(number))).map(({ name }) => name),
        []
      )
    })
  }
})
