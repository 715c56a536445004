import { availableParallelism } from "node:os"
import * as PostgresServer from "../support/PostgresServer.ts"
import { type BugSearch, findBug } from "./BugSearches.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as FederationFaultPlan from "./federation/FaultPlan.ts"
import * as FederationMutants from "./federation/Mutants.ts"
import * as FederationOnceBroken from "./federation/OnceBroken.ts"
import * as Federation from "./federation/Run.ts"
import { Fleet, type Settings } from "./Fleet.ts"
import * as Mutants from "./Mutants.ts"
import { onceBroken } from "./OnceBroken.ts"
import { show, shrink, totals } from "./Report.ts"
import * as Simulation from "./Simulation.ts"

const federation = process.argv.includes("--federation")
const { commandsStandard } = federation ? Federation : Simulation
const { faultsMax } = federation ? FederationFaultPlan : FaultPlan
const brokenSeeds = federation ? FederationOnceBroken.onceBroken : onceBroken
const mutants: ReadonlyArray<BugSearch & { readonly name: string; readonly overlapping?: true }> = federation
  ? FederationMutants.mutants
  : Mutants.mutants

const usage = `npm run simulate -- [--federation | --overlapping] [--seed N] [--runs M]
  --federation    two or three servers that federate, instead of one server's nodes
  --overlapping   one server on a real Postgres, with concurrent transactions on the same rows
  --consents      one server with consent, polls and moderators, regardless of the seed
  --transfers     one server with imports of lists and posts, regardless of the seed
  --kept          all commands and faults of the seeds that broke once
  --mutants       searches for each of ${mutants.length} injected bugs
  --seed N        first seed; default 1
  --runs M        number of seeds; default 1
  --commands 3,7  only these of a seed's ${commandsStandard} commands
  --faults 0,2    only these of its faults
  --mutant N      injects bug number N of ${mutants.length}: ${mutants.map(({ name }, n) => `${n} ${name}`).join("; ")}
  --show          prints the events of all runs
  --logs          prints the program's log`

/** Maximum number of failed seeds that are shrunk; the others are only named. */
const shownMax = 3

const textOf = (name: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? undefined : process.argv[at + 1]
}
const fail = (): never => {
  console.error(usage)
  process.exit(2)
}
const numberOf = (name: string, fallback: number) => {
  const value = Number(textOf(name) ?? fallback)
  return Number.isSafeInteger(value) ? value : fail()
}
const numbersOf = (name: string, fallback: number) => {
  const text = textOf(name)
  if (text === undefined) return Array.from({ length: fallback }, (_, n) => n)
  const values = text.split(",").filter((part) => part !== "").map(Number)
  return values.every(Number.isSafeInteger) ? values : fail()
}
if (process.argv.includes("--help")) fail()

const isGiven = (option: string) => process.argv.includes(`--${option}`)
const server = isGiven("overlapping") || isGiven("mutants") && mutants.some(({ overlapping }) => overlapping)
  ? await PostgresServer.start()
  : undefined
const [first, runs] = [numberOf("seed", 1), numberOf("runs", 1)]
const settings: Settings = {
  federation,
  postgres: isGiven("overlapping") ? server?.address : undefined,
  commands: numbersOf("commands", commandsStandard),
  faults: numbersOf("faults", faultsMax),
  mutant: textOf("mutant") === undefined ? undefined : numberOf("mutant", 0),
  logs: isGiven("logs"),
  ...(isGiven("consents") && { consents: true }),
  ...(isGiven("transfers") && { transfers: true })
}
const fleet = new Fleet(availableParallelism())
const run = (seed: number, given: Settings) => fleet.run(seed, given)

/** Runs seeds; returns true if all hold. */
const allHold = async () => {
  const began = performance.now()
  const jobs = isGiven("kept")
    ? brokenSeeds.map(({ given, seed }) => ({ seed, settings: { ...settings, ...given } }))
    : Array.from({ length: runs }, (_, n) => ({ seed: first + n, settings }))
  const ran = await fleet.each(jobs, (result) => {
    const faults = Object.entries(result.counts).map(([what, times]) => `${what} ${times}`).join(", ")
    console.log(
      `seed ${result.seed} ${result.broken.length === 0 ? "holds" : "BREAKS"} ${result.hash.slice(0, 12)} ` +
        `(${result.virtualMillis} ms virtual, ${result.cpuMillis} ms) ${faults}`
    )
    if (isGiven("show")) console.log([...result.broken, ...result.log].join("\n"))
  })
  const failed = ran.filter(({ result }) => result.broken.length > 0)
  for (const { result, settings } of failed.slice(0, shownMax)) console.log(show(await shrink(run, result, settings)))
  console.log(totals(ran.map(({ result }) => result), performance.now() - began))
  return failed.length === 0
}

/** Looks for each bug; returns true if all are found. */
const allFound = async () => {
  const findings = await Promise.all(mutants.map(async (mutant, number) => {
    const postgres = mutant.overlapping && server?.address
    const { commands, cpuMillis, found, seed } = await findBug(run, { ...settings, postgres, mutant: number }, mutant)
    console.log(
      `bug ${number}, ${mutant.name}: ` +
        (found === undefined
          ? `NOT FOUND in ${mutant.seedsMax} seeds`
          : `seed ${seed}, ${commands} commands, ${cpuMillis} ms: ${found}`)
    )
    return found
  }))
  const missed = findings.filter((found) => found === undefined).length
  console.log(`${findings.length} bugs, ${missed} of them not found`)
  return missed === 0
}

const good = await (isGiven("mutants") ? allFound() : allHold())
await fleet.close()
await server?.stop()
process.exit(good ? 0 : 1)
