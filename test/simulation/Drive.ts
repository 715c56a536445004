import { Effect, Exit } from "effect"
import * as Globals from "./Globals.ts"
import type { Machine } from "./Machine.ts"
import * as Pooling from "./Pooling.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Maximum CPU time of a run, in milliseconds; a longer run counts as broken. */
const cpuMillisMax = 20_000

/** CPU time of this process since its start. */
export const cpuMillis = () => {
  const { system, user } = process.cpuUsage()
  return Math.round((system + user) / 1000)
}

/** Instants of virtual time that the runs of this process have reached. */
export const progress = { instants: 0 }

export interface Run<A, E> {
  readonly time: VirtualTime
  /** Machine on which `main` runs. */
  readonly outside: Machine
  /** True while a database is at work, during which virtual time stops. */
  readonly isBusy: () => boolean
  /** Completes when the database is done, if there is no way to learn of it but polling. */
  readonly working?: () => Promise<void> | undefined
  readonly main: Effect.Effect<A, E>
}

/** Runs an effect on the outside machine, and virtual time with it, until it ends or is stuck. */
export const drive = async <A, E>(
  { isBusy, main, outside, time, working }: Run<A, E>
): Promise<Exit.Exit<A, E | string>> => {
  await Pooling.fill()
  const restore = Globals.replace(time)
  const began = cpuMillis()
  try {
    const fiber = Effect.runForkWith(outside.context)(main)
    for (let turns = 1; fiber.pollUnsafe() === undefined && time.stuck === undefined; turns++) {
      // Reading the CPU time is expensive.
      if (turns % 512 === 0 && cpuMillis() - began > cpuMillisMax) {
        time.stuck = `more than ${cpuMillisMax} ms of CPU time`
      }
      await time.flush()
      await (working?.() ?? new Promise((resume) => setImmediate(resume)))
      if (fiber.pollUnsafe() !== undefined || time.pending || isBusy()) continue
      time.advance()
      progress.instants++
    }
    return fiber.pollUnsafe() ?? Exit.fail(`stuck at ${time.elapsed} ms: ${time.stuck}`)
  } finally {
    restore()
  }
}
