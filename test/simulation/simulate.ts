import { availableParallelism } from "node:os"
import * as PostgresServer from "../support/PostgresServer.ts"
import * as Faults from "./Faults.ts"
import * as FederationFaults from "./federation/Faults.ts"
import * as FederationMutants from "./federation/Mutants.ts"
import { onceBroken } from "./federation/OnceBroken.ts"
import * as Federation from "./federation/Run.ts"
import { Fleet } from "./Fleet.ts"
import * as Mutants from "./Mutants.ts"
import { show, shrink, totals } from "./Report.ts"
import * as Simulation from "./Simulation.ts"

const federation = process.argv.includes("--federation")
const { commandsStandard } = federation ? Federation : Simulation
const { faultsMax } = federation ? FederationFaults : Faults
const { mutants } = federation ? FederationMutants : Mutants

const usage = `npm run simulate -- [--federation | --overlapping] [--seed N] [--runs M]
  --federation    two or three servers that federate, instead of the nodes of one
  --overlapping   one server on a real Postgres, in which many do something with the same rows at the same time
  --kept          the seeds that broke once, of servers that federate
  --seed N        the first seed, 1 by default
  --runs M        how many seeds, 1 by default
  --commands 3,7  only these of a seed's ${commandsStandard} commands
  --faults 0,2    only these of its faults
  --mutant N      with bug number N of ${mutants.length} put in: ${
  mutants.map(({ name }, n) => `${n} ${name}`).join("; ")
}
  --show          prints what happens, also of runs that hold
  --logs          prints the program's own log`

/** Failed seeds whose shortest trace is looked for; the others are named. */
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

const server = process.argv.includes("--overlapping") ? await PostgresServer.start() : undefined
const [first, runs] = [numberOf("seed", 1), numberOf("runs", 1)]
const settings = {
  federation,
  postgres: server?.address,
  commands: numbersOf("commands", commandsStandard),
  faults: numbersOf("faults", faultsMax),
  mutant: textOf("mutant") === undefined ? undefined : numberOf("mutant", 0),
  logs: process.argv.includes("--logs")
}
const began = performance.now()
const seeds = process.argv.includes("--kept")
  ? onceBroken.map(({ seed }) => seed)
  : Array.from({ length: runs }, (_, n) => first + n)
const fleet = new Fleet(Math.min(seeds.length, availableParallelism()))
const results = await fleet.each(seeds, settings, (result) => {
  const faults = Object.entries(result.counts).map(([what, times]) => `${what} ${times}`).join(", ")
  console.log(
    `seed ${result.seed} ${result.broken.length === 0 ? "holds" : "BREAKS"} ${result.hash.slice(0, 12)} ` +
      `(${result.virtualMillis} ms virtual, ${result.cpuMillis} ms) ${faults}`
  )
  if (process.argv.includes("--show")) console.log([...result.broken, ...result.log].join("\n"))
})
const failed = results.filter(({ broken }) => broken.length > 0)
for (const result of failed.slice(0, shownMax)) {
  console.log(show(await shrink((seed, more) => fleet.run(seed, more), result, settings)))
}
console.log(totals(results, performance.now() - began))
fleet.close()
await server?.stop()
process.exit(failed.length === 0 ? 0 : 1)
