import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import * as Database from "../../src/layers/Database.ts"
import { EmbeddedPostgres } from "../../src/layers/EmbeddedPostgres.ts"
import * as Programs from "../support/programs/Programs.ts"
import { startRedis } from "../support/RedisServer.ts"

/** Runs one statement without parameters; returns its rows. */
export type Query = (text: string) => Promise<ReadonlyArray<Record<string, unknown>>>

const postgresOf = (dataDir: string, held: boolean) =>
  EmbeddedPostgres.layer({ dataDir, adopt: held, tcp: held }).pipe(
    Layer.provide(Layer.merge(NodeServices.layer, NodeCrypto.layer))
  )

const open = async <A>(make: Effect.Effect<A, unknown, Scope.Scope>) => {
  const scope = Scope.makeUnsafe()
  const value = await Effect.runPromise(Effect.orDie(Scope.provide(make, scope)))
  return { value, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/**
 * Opens a session with the embedded Postgres of a folder: the one that a server runs there, or (`held`) a new one that
 * listens on a port.
 */
export const openPostgres = async (dataDir: string, held = false) => {
  const { close, value } = await open(Effect.gen(function*() {
    const postgres = Context.get(yield* Layer.build(postgresOf(dataDir, held)), EmbeddedPostgres)
    const client = Context.get(
      yield* Layer.build(PgClient.layer({ ...Database.connectionOf(postgres), maxConnections: 1 })),
      PgClient.PgClient
    )
    const { endpoint, username } = postgres
    const query: Query = (text) => Effect.runPromise(client.unsafe<Record<string, unknown>>(text))
    return {
      query,
      pid: yield* postgres.pid,
      url: "path" in endpoint
        ? ""
        : `postgres://${username}:${Redacted.value(postgres.password)}@${endpoint.host}:${endpoint.port}/postgres`
    }
  }))
  return { ...value, close }
}

export type Postgres = Awaited<ReturnType<typeof openPostgres>>

/** Starts a Redis for the cluster; undefined if none is installed. */
export const openRedis = async () => {
  if (Programs.find("redis") === undefined) return undefined
  const { close, value } = await open(startRedis)
  return { ...value, close }
}
