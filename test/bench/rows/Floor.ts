import { fileURLToPath } from "node:url"
import * as Child from "../Child.ts"
import { between, spent, total } from "../Cpu.ts"
import type { Load } from "../load/Generator.ts"
import { listeners } from "../People.ts"
import { type Measured, median, percentile, type Row } from "../Row.ts"

const connections = 8
const script = fileURLToPath(new URL("../load/Bare.ts", import.meta.url))

/**
 * Same requests and sockets on a Node server that does nothing. This is the upper bound for Node on this machine now,
 * and makes figures of different machines and hours comparable.
 */
export const floor: Row = {
  name: "floor",
  measure: async ({ options, server: { generate } }): Promise<ReadonlyArray<Measured>> => {
    const bare = Child.start<{ readonly kind: "port" }>([script])
    try {
      const port = Number(await bare.ask({ kind: "port" }))
      const watched = { node: bare.pid, postgres: 0 }
      const ask = (millis: number) =>
        generate({ kind: "requests", port, connections, requests: [{ method: "GET", path: "/" }], millis }) as Promise<
          Load
        >
      await ask(1_000)
      const runs = []
      for (let run = 0; run < options.runs; run++) {
        const before = spent(watched)
        const { done, millis } = await ask(options.seconds * 1000)
        runs.push({ perSecond: done * 1000 / millis, millis: between(before, spent(watched), done) })
      }
      const middle = median(runs.map(({ millis }) => total(millis)))

      await generate({ kind: "listen", port, tokens: Array.from({ length: listeners }, String) })
      const send = (posts: number) =>
        generate({ kind: "events", port, token: "none", posts, pause: 100, latencyMax: 5_000 }) as Promise<
          Array<number>
        >
      await send(10)
      const delays = await send(options.quick ? 20 : 60)
      await generate({ kind: "close streams" })
      return [
        { name: "floor: a bare Node server's response", ...runs.find((run) => total(run.millis) === middle)! },
        {
          name: "floor: a bare Node server's message to 1,000 sockets",
          figures: { "p50 ms": median(delays), "p99 ms": percentile(delays, 0.99) }
        }
      ]
    } finally {
      bare.process.kill("SIGKILL")
      await bare.ended
    }
  }
}
