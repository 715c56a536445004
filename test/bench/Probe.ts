import { writeFileSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/* Loaded into the server that is measured. It listens to the bench and does nothing by itself. */

export type Order =
  | { readonly kind: "memory" }
  | { readonly kind: "profile" }
  | { readonly kind: "profiled"; readonly file: string }

let session: Session | undefined

const obey = async (order: Order): Promise<unknown> => {
  if (order.kind === "memory") {
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    collect()
    collect()
    return process.memoryUsage()
  }
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
  void obey(order).then((answer) => process.send?.({ answer }))
})
process.channel?.unref()
