import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import * as Database from "../../src/layers/Database.ts"
import * as DatabasePool from "./DatabasePool.ts"
import * as KeptSessions from "./KeptSessions.ts"
import { connection } from "./PostgresServer.ts"

/**
 * A migrated, empty database for the test in the run's Postgres, reused after the layer closes. `layer` also provides
 * the server's clients for it. `layerEmpty` provides a database without a schema, and no client.
 */
export class TestDatabase extends Context.Service<TestDatabase, {
  readonly connection: Database.Connection
  /** URL of the database, for `DATABASE_URL`. */
  readonly url: string
}>()("murmuration/test/TestDatabase") {
  static readonly layerOnly = Layer.effect(
    TestDatabase,
    Effect.suspend(() => make(DatabasePool.take, DatabasePool.giveBack))
  )
  static readonly layerEmpty = Layer.effect(
    TestDatabase,
    Effect.suspend(() => make(DatabasePool.create(""), DatabasePool.drop))
  )
  static readonly layer = Layer.unwrap(
    Effect.map(
      TestDatabase,
      ({ connection }) => Layer.merge(KeptSessions.clients(connection), Database.HeldSessions.layer(connection))
    )
  ).pipe(
    Layer.tap((context) => Effect.provide(trendsComputed, context)),
    Layer.provideMerge(TestDatabase.layerOnly)
  )
}

/** Marks trends as just computed, so that a starting server does not change what a test sets up. */
const trendsComputed = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql`INSERT INTO chores (name, begun_at)
    SELECT unnest(ARRAY['trends of tags', 'trends of statuses', 'trends of links', 'popular accounts']), now()
    ON CONFLICT (name) DO NOTHING`)

const make = Effect.fnUntraced(
  function*(take: Effect.Effect<string>, giveBack: (name: string) => Effect.Effect<unknown>) {
    const address = inject("postgres")
    const name = yield* Effect.acquireRelease(take, giveBack)
    const { folder, host, password, port, username } = address
    return TestDatabase.of({
      connection: connection(address, name),
      url: `postgres://${username}:${password}@${host}:${port}/${name}?host=${encodeURIComponent(folder)}`
    })
  }
)
