import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { ServerTitle } from "../../../src/services/instance/ServerTitle.ts"
import { config } from "../../support/Actors.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = ServerTitle.layer.pipe(
  Layer.provide([config, Broadcast.layerMemory]),
  Layer.provideMerge(TestDatabase.layer)
)

layer(services, { excludeTestServices: true })("title of the server", (it) => {
  it.effect("F264: pages wait a second at most for the title, and then use the last known one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const title = yield* ServerTitle
      const locked = yield* Deferred.make<void>()
      // Forked here, so that it does not run in the transaction with the lock.
      const reading = yield* Effect.forkChild(Effect.andThen(Deferred.await(locked), title.current))
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`LOCK TABLE settings`
        yield* Deferred.succeed(locked, undefined)
        yield* eventually(sql`SELECT FROM pg_locks WHERE NOT granted`, (rows) => rows.length > 0)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(reading), "here.test")
        yield* sql`SELECT`
      }))
      yield* sql`INSERT INTO settings (name, value, updated_at) VALUES ('site_title', '"Ducks"', now())`
      assert.strictEqual(yield* title.current, "Ducks")
    }).pipe(Effect.provide(TestClock.layer())))
})
