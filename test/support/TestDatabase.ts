import { NodeCrypto } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { inject } from "vitest"
import * as Database from "../../src/layers/Database.ts"
import { connection, template } from "./PostgresServer.ts"

/**
 * A migrated, empty database of the test's own inside the run's Postgres, dropped when the layer closes. `layer` gives
 * the server's clients for it as well; `layerEmpty` gives a database without a schema and no client.
 */
export class TestDatabase extends Context.Service<TestDatabase, {
  readonly connection: Database.Connection
  /** The same database as `DATABASE_URL`. */
  readonly url: string
}>()("murmuration/test/TestDatabase") {
  static readonly layerOnly = Layer.effect(TestDatabase, Effect.suspend(() => make(` TEMPLATE ${template}`)))
  static readonly layerEmpty = Layer.effect(TestDatabase, Effect.suspend(() => make("")))
  static readonly layer = Layer.unwrap(
    Effect.map(
      TestDatabase,
      ({ connection }) => Layer.merge(Database.client(connection), Database.HeldSessions.layer(connection))
    )
  ).pipe(
    Layer.provideMerge(TestDatabase.layerOnly)
  )
}

const make = Effect.fnUntraced(function*(from: string) {
  const address = inject("postgres")
  const Admin = PgClient.layer({ ...connection(address, "postgres"), maxConnections: 1 })
  const admin = (statement: string) =>
    Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(Admin), Effect.orDie)
  const name = `test_${(yield* (yield* SecureRandom.SecureRandom).uuidV4()).replaceAll("-", "")}`
  yield* Effect.acquireRelease(
    admin(`CREATE DATABASE ${name}${from}`),
    () => admin(`DROP DATABASE ${name} WITH (FORCE)`)
  )
  const { host, password, port, username } = address
  return TestDatabase.of({
    connection: connection(address, name),
    url: `postgres://${username}:${password}@${host}:${port}/${name}`
  })
}, Effect.provide(NodeCrypto.layer))
