import { mkdtempSync } from "node:fs"
import { chmod, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openPostgres, openRedis, type Postgres } from "./Backing.ts"
import { type Checkout, ours } from "./Checkout.ts"
import * as Child from "./Child.ts"
import type { Watched } from "./Cpu.ts"
import type { Job, Load } from "./load/Generator.ts"
import type { Order } from "./Probe.ts"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** A running server and the load generator for it alone. */
export interface RunningServer {
  readonly port: number
  readonly watched: Watched
  readonly query: Postgres["query"]
  readonly child: Child.Child<Order>
  /** Time from the start of the process to the first 200, in milliseconds. */
  readonly startMillis: number
  readonly generate: (job: Job) => Promise<unknown>
  readonly load: (job: Omit<Extract<Job, { readonly kind: "requests" }>, "kind" | "port">) => Promise<Load>
  /** Runs a command of the operator's command line on the server's data; returns its output. */
  readonly command: (args: ReadonlyArray<string>) => Promise<string>
  readonly stop: () => Promise<void>
}

const firstResponse = async (port: number, child: Child.Child<Order>): Promise<void> => {
  let ended = false
  void child.ended.then(() => ended = true)
  for (;;) {
    if (ended) throw new Error(`The server did not start: ${child.output()}`)
    const reply = await fetch(`http://127.0.0.1:${port}/api/v2/instance`).catch(() => undefined)
    await reply?.text()
    if (reply?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Creates a folder for the server's data that Postgres may enter as another user. */
export const makeDataDir = async () => {
  const folder = mkdtempSync(join(tmpdir(), "murmuration-bench-"))
  await chmod(folder, 0o711)
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

const common = { HOST: "127.0.0.1", RATE_LIMITS: "off", LOG_LEVEL: "error" }
const startServer = async (port: number, variables: Record<string, string>, checkout: Checkout) => {
  const began = performance.now()
  const args = [...checkout.flags, "--import", here("Probe.ts"), join(checkout.root, "src/main.ts")]
  const given = { ...checkout.variables, ...common, PORT: String(port), ...variables }
  const child = Child.start<Order>(args, given, checkout)
  await firstResponse(port, child)
  const command = async (words: ReadonlyArray<string>) => {
    const cli = Child.start([...checkout.flags, join(checkout.root, "src/cli.ts"), ...words], given, checkout)
    if (await cli.ended !== 0) throw new Error(`The command failed: ${cli.output()}`)
    return cli.output()
  }
  return { child, startMillis: performance.now() - began, command }
}

const connect = async (
  port: number,
  { child, command, startMillis }: Awaited<ReturnType<typeof startServer>>,
  postgres: Postgres,
  redis?: Awaited<ReturnType<typeof openRedis>>
): Promise<RunningServer> => {
  const generator = Child.start<Job>([here("load/Generator.ts")])
  return {
    port,
    child,
    startMillis,
    command,
    query: postgres.query,
    watched: { node: child.pid, postgres: postgres.pid, redis: redis?.pid },
    generate: generator.ask,
    load: async (job) => {
      const load = await generator.ask({ ...job, kind: "requests", port }) as Load
      const refused = Object.keys(load.statuses).filter((status) => !status.startsWith("2"))
      if (refused.length > 0) throw new Error(`Not every request succeeded: ${JSON.stringify(load.statuses)}`)
      return load
    },
    stop: async () => {
      generator.process.kill("SIGKILL")
      await postgres.close()
      child.process.kill("SIGTERM")
      await child.ended
      await redis?.close()
    }
  }
}

/** Starts the server as `npm start` does: one process with embedded Postgres, without Redis. */
export const single = async (
  dataDir: string,
  variables: Record<string, string> = {},
  checkout = ours
): Promise<RunningServer> => {
  const port = await freePort()
  const started = await startServer(port, { DATA_DIR: dataDir, ...variables }, checkout)
  return connect(port, started, await openPostgres(dataDir))
}

/** Starts a node of a cluster over the same data, with feeds and bus in Redis; undefined without Redis. */
export const clustered = async (dataDir: string, checkout = ours): Promise<RunningServer | undefined> => {
  const redis = await openRedis()
  if (redis === undefined) return undefined
  const postgres = await openPostgres(dataDir, true)
  const [port, clusterPort] = [await freePort(), await freePort()]
  const started = await startServer(port, {
    DATA_DIR: join(dataDir, "node"),
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    PUBLIC_URL: `http://localhost:${port}`,
    CLUSTER_HOST: "127.0.0.1",
    CLUSTER_PORT: String(clusterPort)
  }, checkout)
  const server = await connect(port, started, postgres, redis)
  return {
    ...server,
    stop: async () => {
      // The bench owns this Postgres, so the server stops first.
      started.child.process.kill("SIGTERM")
      await started.child.ended
      await server.stop()
    }
  }
}
