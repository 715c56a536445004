import { setTimeout } from "node:timers/promises"
import { queryObjects } from "node:v8"
import type { Address } from "../support/PostgresServer.ts"
import { mutants as federationMutants, planted as federationPlanted } from "./federation/Mutants.ts"
import type { Job, Kept, Reply, Settings } from "./Fleet.ts"
import { mutants, planted } from "./Mutants.ts"
import * as Sources from "./Sources.ts"

/* A simulation process: takes seeds and sends results until its parent ends it. */
// In processes for mutants, the program is loaded after the bugs are planted.
if (process.argv.includes("planted")) Sources.plant(new Map([...planted, ...federationPlanted]))
const DatabaseFiles = await import("./DatabaseFiles.ts")
const Federation = await import("./federation/Run.ts")
const { Backends } = await import("./Backends.ts")
const Performed = await import("./Performed.ts")
const { Machine } = await import("./Machine.ts")
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
  const bug = mutants[mutant ?? mutants.length]
  const { mutation = {}, name, standstills = false, consents = settings.consents } = bug ?? {}
  // Imports would move the schedules in which the other bugs are found.
  const transfers = bug === undefined ? settings.transfers : bug.transfers === true
  Sources.switchOn(name)
  if (postgres !== undefined) {
    return runOverlapping(await overlapping(postgres), seed, { commands, faults, mutation, logs })
  }
  const [database] = await opened(1)
  const given = { ...(consents && { consents }), ...(transfers !== undefined && { transfers }) }
  return run(database!, seed, { commands, faults, mutation, logs, standstills, ...given })
}

/** Looks at the machines of a finished run, and the pause before each, in milliseconds: its last promises may be open. */
const looksMax = 10
const lookMillis = 50

/** Returns what this process keeps of its runs; counting objects collects all garbage first. */
const kept = async (): Promise<Kept> => {
  let machines = 1
  for (let look = 0; look < looksMax && machines > 0; look++) {
    await setTimeout(lookMillis)
    machines = queryObjects(Machine, { format: "count" })
  }
  const { external, heapUsed } = process.memoryUsage()
  return { machines, bytes: heapUsed + external }
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
  const run = async () => {
    const ran = { result: await result(seed, settings), bytes: process.memoryUsage.rss() }
    const measured = settings.measured === true ? await kept() : undefined
    process.send?.({ ...ran, kept: measured } satisfies Reply)
  }
  void run()
})
process.on("disconnect", () => process.exit(0))
process.send?.({ loaded: true })
