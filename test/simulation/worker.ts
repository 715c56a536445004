import type { PGlite } from "@electric-sql/pglite"
import * as Databases from "./Databases.ts"
import { mutants as federationMutants } from "./federation/Mutants.ts"
import * as Federation from "./federation/Run.ts"
import type { Job, Settings } from "./Fleet.ts"
import { mutants } from "./Mutants.ts"
import { run } from "./Simulation.ts"

/* A process of simulations: takes a seed, sends the result, until its parent ends it. */
const databases: Array<PGlite> = []
const opened = async (count: number) => {
  // Not copies of one: the first run on a copy differs from those after it.
  while (databases.length < count) databases.push(await Databases.open())
  return databases
}

const result = async (seed: number, { commands, faults, federation, logs, mutant }: Settings) => {
  if (federation) {
    const mutation = mutant === undefined ? {} : federationMutants[mutant]?.mutation ?? {}
    return Federation.run(await opened(Federation.sitesMax), seed, { commands, faults, mutation, logs })
  }
  const [database] = await opened(1)
  const mutation = mutant === undefined ? {} : mutants[mutant]?.mutation ?? {}
  return run(database!, seed, { commands, faults, mutation, logs })
}

process.on("message", ({ seed, settings }: Job) => {
  const run = async () => process.send?.(await result(seed, settings))
  void run()
})
process.on("disconnect", () => process.exit(0))
