import { writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/* Preload of the measured server. It handles orders of the bench and does nothing otherwise. */

export type Order =
  | { readonly kind: "memory" }
  | { readonly kind: "profile" }
  /** Starts to measure pauses; `longest pause` then returns the longest one, in milliseconds. */
  | { readonly kind: "pauses" }
  | { readonly kind: "longest pause" }
  | { readonly kind: "profiled"; readonly file: string }

/** Resolution of the histogram, in milliseconds; it adds to the measured pauses. */
const resolution = 1
const pauses = monitorEventLoopDelay({ resolution })
let session: Session | undefined

const handle = async (order: Order): Promise<unknown> => {
  if (order.kind === "memory") {
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    collect()
    collect()
    return process.memoryUsage()
  }
  if (order.kind === "pauses") {
    pauses.enable()
    pauses.reset()
    return null
  }
  if (order.kind === "longest pause") return Math.max(0, pauses.max / 1e6 - resolution)
  if (order.kind === "profile") {
    session = new Session()
    session.connect()
    await session.post("Profiler.enable")
    await session.post("Profiler.setSamplingInterval", { interval: 500 })
    await session.post("Profiler.start")
    return null
  }
  const stopped = await session?.post("Profiler.stop")
  writeFileSync(order.file, JSON.stringify(stopped?.profile))
  session?.disconnect()
  return null
}

process.on("message", (order: Order) => {
  void handle(order).then((reply) => process.send?.({ reply }))
})
process.channel?.unref()
