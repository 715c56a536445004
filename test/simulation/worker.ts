import type { Job } from "./Fleet.ts"
import { mutants } from "./Mutants.ts"
import { open, run } from "./Simulation.ts"

/* A process of simulations: takes a seed, sends the result, until its parent ends it. */
const database = open()
process.on("message", (job: Job) => {
  const { logs, commands, faults, mutant } = job.settings
  const mutation = mutant === undefined ? {} : mutants[mutant]?.mutation ?? {}
  void database.then((opened) => run(opened, job.seed, { commands, faults, mutation, logs })).then((result) =>
    process.send?.(result)
  )
})
process.on("disconnect", () => process.exit(0))
