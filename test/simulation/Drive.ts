import { Effect, Exit } from "effect"
import * as Globals from "./Globals.ts"
import type { Machine } from "./Machine.ts"
import * as Pooling from "./Pooling.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** A run that takes longer counts as broken, in milliseconds of CPU time. */
const cpuMillisMax = 20_000

/** Of this process, since it began. */
export const cpuMillis = () => {
  const { system, user } = process.cpuUsage()
  return Math.round((system + user) / 1000)
}

/** Instants of virtual time that the runs of this process came to. */
export const progress = { instants: 0 }

export interface Run<A, E> {
  readonly time: VirtualTime
  /** The machine on which `main` runs. */
  readonly outside: Machine
  /** A database works on something at the moment, so that time stands still. */
  readonly isBusy: () => boolean
  /** Ends when that is over, where there is no other way to hear of it than to ask. */
  readonly working?: () => Promise<void> | undefined
  readonly main: Effect.Effect<A, E>
}

/** Runs an effect on the machine outside, and time along with it, until it ends or cannot go on. */
export const drive = async <A, E>(
  { isBusy, main, outside, time, working }: Run<A, E>
): Promise<Exit.Exit<A, E | string>> => {
  await Pooling.fill()
  const restore = Globals.replace(time)
  const began = cpuMillis()
  try {
    const fiber = Effect.runForkWith(outside.context)(main)
    for (let turns = 1; fiber.pollUnsafe() === undefined && time.stuck === undefined; turns++) {
      // To ask for the CPU time is dear.
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
