import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import * as Database from "../../src/layers/Database.ts"
import * as OwnPostgres from "../cluster/OwnPostgres.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { startRedisAt } from "../support/RedisServer.ts"
import { Meter } from "./Cpu.ts"

/** A slot for a node in the cluster. The node runs, or will restart soon at the same ports. */
export interface NodeSlot {
  readonly name: string
  readonly baseUrl: string
  readonly variables: Record<string, string>
  /** Process id of the current node. */
  pid: number | undefined
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Log output of all of its nodes. */
  readonly log: () => string
}

const hook = fileURLToPath(new URL("ClosablePort.ts", import.meta.url))

const slot = Effect.fnUntraced(function*(name: string, shared: Record<string, string>) {
  const parent = yield* Effect.scope
  const port = yield* freePort
  const variables = {
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: "http://cluster.test",
    CLUSTER_HOST: "127.0.0.1",
    CLUSTER_PORT: String(yield* freePort),
    RATE_LIMITS: "off",
    LOG_LEVEL: "warning",
    NODE_OPTIONS: `--import=${hook} --disable-warning=ExperimentalWarning`,
    ...shared
  }
  const logs: Array<() => string> = []
  let scope: Scope.Closeable | undefined
  const self: NodeSlot = {
    name,
    baseUrl: `http://127.0.0.1:${port}`,
    variables,
    pid: undefined,
    log: () => logs.map((log) => log()).join(""),
    start: Effect.gen(function*() {
      scope = yield* Scope.fork(parent)
      const program = yield* Scope.provide(Program.start("main", [], variables), scope)
      logs.push(program.out)
      yield* Program.printed(program, "Murmuration is at")
      self.pid = program.child.pid
    }).pipe(Effect.orDie),
    kill: Effect.suspend(() => {
      if (self.pid !== undefined) process.kill(self.pid, "SIGKILL")
      self.pid = undefined
      return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
    })
  }
  return self
})

/** Starts a Redis that can be killed and restarts empty at the same port. */
const redis = Effect.gen(function*() {
  const port = yield* freePort
  const parent = yield* Effect.scope
  let scope = yield* Scope.fork(parent)
  let running = yield* Scope.provide(startRedisAt(port), scope)
  return {
    url: running.url,
    port,
    pid: () => running.pid,
    flush: Effect.promise(() =>
      new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => socket.write("FLUSHALL\r\n"))
        socket.once("data", () => socket.end()).once("error", () => socket.destroy()).once("close", () => resolve())
      })
    ),
    kill: Effect.suspend(() => Scope.close(scope, Exit.void)),
    start: Effect.gen(function*() {
      scope = yield* Scope.fork(parent)
      running = yield* Effect.orDie(Scope.provide(startRedisAt(port), scope))
    })
  }
})

/** Starts three nodes on one Postgres and one Redis; `sql` is the run's own connection to the database. */
export const make = Effect.fnUntraced(function*(names: ReadonlyArray<string>, dataDir: string) {
  const postgres = yield* OwnPostgres.startPostgres
  const ownRedis = yield* redis
  const shared = { DATABASE_URL: postgres.url, REDIS_URL: ownRedis.url, DATA_DIR: dataDir }
  const slots = yield* Effect.forEach(names, (name) => slot(name, shared))
  for (const one of slots) yield* one.start
  const { hostname, password, pathname, port, username } = new URL(postgres.url)
  const client = yield* Layer.build(PgClient.layer({
    ...Database.names,
    host: hostname,
    port: Number(port),
    username: decodeURIComponent(username),
    password: Redacted.make(decodeURIComponent(password)),
    database: pathname.slice(1),
    maxConnections: 2,
    connectTimeout: "3 seconds"
  }))
  const meter = new Meter(() => ({
    nodes: slots.flatMap(({ pid }) => pid ?? []),
    postgres: postgres.pid(),
    redis: ownRedis.pid()
  }))
  return { postgres, redis: ownRedis, slots, meter, sql: Context.get(client, SqlClient.SqlClient) }
}, Effect.provide(NodeServices.layer))

export type Machines = Effect.Success<ReturnType<typeof make>>
