import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { HeldSessions } from "../../src/layers/Database.ts"
import { Handover } from "../../src/layers/Handover.ts"
import * as SingleServer from "../../src/layers/SingleServer.ts"
import { eventually } from "../support/Eventually.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { testEnvironment } from "../support/TestEnvironment.ts"

const handover = Handover.layer.pipe(Layer.provide(NodeCrypto.layer), Layer.provide(testEnvironment({ PORT: "0" })))

/** Takes a server's lock on the test's database, with its own sessions. */
const take = Effect.gen(function*() {
  const { connection } = yield* TestDatabase
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Layer.build(Layer.fresh(SingleServer.layer.pipe(Layer.provide([HeldSessions.layer(connection), handover]))))
    .pipe(
      Scope.provide(scope)
    )
  return { release: Scope.close(scope, Exit.void) }
})

layer(TestDatabase.layer, { excludeTestServices: true })("SingleServer", (it) => {
  it.effect("lets one server without a cluster use a database, and the next one after it has ended", () =>
    Effect.scoped(Effect.gen(function*() {
      const first = yield* take
      const refused = yield* Effect.flip(take)
      assert.match(refused.message, /^Another server uses this database\./)
      yield* first.release
      yield* take
    })))

  it.effect("takes its lock again after its session was lost", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* take
      const sql = yield* SqlClient.SqlClient
      const holders = sql<{ pid: number }>`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      const [before] = yield* holders
      yield* sql`SELECT pg_terminate_backend(${before!.pid})`
      const after = yield* eventually(holders, (rows) => rows.length > 0 && rows[0]!.pid !== before!.pid)
      assert.strictEqual(after.length, 1)
    })))
})
