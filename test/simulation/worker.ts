import type { Address } from "../support/PostgresServer.ts"
import { mutants as federationMutants, planted as federationPlanted } from "./federation/Mutants.ts"
import type { Job, Reply, Settings } from "./Fleet.ts"
import { mutants, planted } from "./Mutants.ts"
import * as Sources from "./Sources.ts"

/* A simulation process: takes seeds and sends results until its parent ends it. */
// In processes for mutants, the program is loaded after the bugs are planted.
if (process.argv.includes("planted")) Sources.plant(new Map([...planted, ...federationPlanted]))
const DatabaseFiles = await import("./DatabaseFiles.ts")
const Federation = await import("./federation/Run.ts")
const { Backends } = await import("./Backends.ts")
const Performed = await import("./Performed.ts")
const { run, runOverlapping } = await import("./Simulation.ts")
const { progress } = await import("./Drive.ts")

const databases: Array<Awaited<ReturnType<typeof DatabaseFiles.open>>> = []
const opened = async (count: number) => {
  while (databases.length < count) databases.push(await DatabaseFiles.open())
  return databases
}

let backends: Awaited<ReturnType<typeof Backends.open>> | undefined
const overlapping = async (address: Address) =>
  backends ??= await Backends.open(address, "murmuration_template", Performed.statement)

const result = async (seed: number, settings: Settings) => {
  const { commands, faults, federation, logs, mutant, postgres } = settings
  if (federation) {
    const { mutation = {}, name } = federationMutants[mutant ?? federationMutants.length] ?? {}
    Sources.switchOn(name)
    return Federation.run(await opened(Federation.sitesMax), seed, { commands, faults, mutation, logs })
  }
  const { mutation = {}, name, standstills = false, consents = settings.consents } =
    mutants[mutant ?? mutants.length] ?? {}
  Sources.switchOn(name)
  if (postgres !== undefined) {
    return runOverlapping(await overlapping(postgres), seed, { commands, faults, mutation, logs })
  }
  const [database] = await opened(1)
  return run(database!, seed, { commands, faults, mutation, logs, standstills, ...(consents && { consents }) })
}

/** Interval of this process's progress reports, in milliseconds; none is sent without progress. */
const progressMillis = 5_000
let told = 0
setInterval(() => {
  if (progress.instants === told) return
  told = progress.instants
  process.send?.({ progress: told })
}, progressMillis)

process.on("message", ({ seed, settings }: Job) => {
  const run = async () =>
    process.send?.({ result: await result(seed, settings), bytes: process.memoryUsage.rss() } satisfies Reply)
  void run()
})
process.on("disconnect", () => process.exit(0))
process.send?.({ loaded: true })
