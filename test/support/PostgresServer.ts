import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Exit, FileSystem, Layer, Option, Redacted, Scope } from "effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../../src/layers/Database.ts"
import * as Postmaster from "../../src/layers/embedded/Postmaster.ts"
import { EmbeddedPostgres } from "../../src/layers/EmbeddedPostgres.ts"

/** Address of the run's Postgres. Plain values only, as it is sent to another process. */
export interface Address {
  readonly host: string
  readonly port: number
  /** Folder of the Unix socket; statements are cheaper over it than over a port. */
  readonly folder: string
  readonly username: string
  readonly password: string
}

export const template = "murmuration_template"

export const connection = ({ folder, password, port, username }: Address, database: string) => ({
  path: Postmaster.socketFile(folder, port),
  username,
  password: Redacted.make(password),
  database
})

const Platform = Layer.merge(NodeServices.layer, NodeCrypto.layer)
const prefix = "murmuration-test-"

/** Removes folders of killed runs; the folder's name has their process id. */
const sweep = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  for (const name of yield* fs.readDirectory(tmpdir())) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
    const alive = yield* Effect.sync(() => {
      try {
        return pid === 0 || process.kill(pid, 0)
      } catch {
        return false
      }
    })
    if (alive) continue
    const left = yield* Postmaster.find(join(tmpdir(), name, "postgres"))
    if (Option.isSome(left)) yield* Postmaster.stop(left.value)
    yield* Effect.ignore(fs.remove(join(tmpdir(), name), { recursive: true }))
  }
})

/** Starts a Postgres in the temporary folder and migrates its template database. */
export const start = async () => {
  const scope = Scope.makeUnsafe()
  const dataDir = join(tmpdir(), `${prefix}${process.pid}`)
  const address = await Effect.gen(function*() {
    yield* sweep
    const fs = yield* FileSystem.FileSystem
    yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(dataDir, { recursive: true })))
    const services = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, adopt: true, durable: false, tcp: true }))
    const postgres = Context.get(services, EmbeddedPostgres)
    if ("path" in postgres.endpoint) return yield* Effect.die("the tests' Postgres listens on a port")
    const address: Address = {
      ...postgres.endpoint,
      folder: join(dataDir, "postgres"),
      username: postgres.username,
      password: Redacted.value(postgres.password)
    }
    yield* Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`CREATE DATABASE ${template}`)
      // Thousands of sessions authenticate with this password, which is random and only for this run.
      yield* sql.unsafe("SET scram_iterations = 1")
      yield* sql.unsafe(`ALTER ROLE ${address.username} PASSWORD '${address.password}'`)
      // Autovacuum would constantly visit every test's database, and no data has to survive a crash.
      yield* sql.unsafe("ALTER SYSTEM SET autovacuum = off")
      yield* sql.unsafe("ALTER SYSTEM SET synchronous_commit = off")
      yield* sql.unsafe("SELECT pg_reload_conf()")
    }).pipe(Effect.provide(PgClient.layer({ ...connection(address, "postgres"), maxConnections: 1 })))
    yield* Database.migrate(connection(address, template))
    return address
  }).pipe(Effect.provide(Platform), Scope.provide(scope), Effect.runPromise)
  return { address, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
