import { Effect, Exit } from "effect"
import * as Globals from "./Globals.ts"
import type { Machine } from "./Machine.ts"
import * as Pooling from "./RequestBatches.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** Maximum CPU time of a run, in milliseconds; a longer run counts as broken. */
const cpuMillisMax = 120_000

/** CPU time of this process since its start. */
export const cpuMillis = () => {
  const { system, user } = process.cpuUsage()
  return Math.round((system + user) / 1000)
}

/** Number of instants of virtual time in all runs of this process. */
export const progress = { instants: 0 }

export interface Run<A, E> {
  readonly time: VirtualTime
  /** Machine on which `main` runs. */
  readonly outside: Machine
  /** Returns true while a database is working; virtual time stops then. */
  readonly isBusy: () => boolean
  /** Completes when the database is done, if polling is the only other way to find out. */
  readonly working?: () => Promise<void> | undefined
  readonly main: Effect.Effect<A, E>
}

/** Runs an effect on the outside machine, and advances virtual time, until the effect ends or is stuck. */
export const drive = async <A, E>(
  { isBusy, main, outside, time, working }: Run<A, E>
): Promise<Exit.Exit<A, E | string>> => {
  await Pooling.fill()
  const restore = Globals.replace(time)
  const began = cpuMillis()
  try {
    const fiber = Effect.runForkWith(outside.context)(main)
    for (let turns = 1; fiber.pollUnsafe() === undefined && time.stuck === undefined; turns++) {
      // Only every 512 turns, because reading the CPU time is expensive.
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
