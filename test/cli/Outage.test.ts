import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { person } from "../support/People.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a command without its database",
  (it) => {
    it.effect("F247: reports that the connection was lost, and ends with code 3", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        yield* person("ada")
        const [locked, ended] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const lock = yield* sql`LOCK TABLE recovery_codes`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(ended)),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(locked)
        const command = yield* Effect.forkChild(cli(["account", "show", "ada"], { DATABASE_URL: url }))
        yield* eventually(
          sql<{ pid: number }>`SELECT pg_terminate_backend(pid), pid FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%recovery_codes%' AND datname = current_database()`,
          (stopped) => stopped.length > 0
        )
        const { code, err, out } = yield* Fiber.join(command)
        yield* Deferred.succeed(ended, undefined)
        yield* Fiber.join(lock)
        assert.deepInclude({ code, out }, { code: 3, out: "" }, err)
        assert.match(err, /^The database cannot be used: [^\n]*\n$/)
      }))

    it.effect("reports within five seconds that the database or its permissions are wrong", () =>
      Effect.gen(function*() {
        const { url } = yield* TestDatabase
        const nowhere = new URL(url)
        nowhere.pathname = "/nowhere"
        const stranger = new URL(url)
        stranger.username = "stranger"
        for (const wrong of [nowhere, stranger]) {
          const from = performance.now()
          const { code, err, out } = yield* cli(["account", "show", "ada"], { DATABASE_URL: String(wrong) })
          assert.isBelow(performance.now() - from, allowedMillis(5_000))
          assert.deepInclude({ code, out }, { code: 1, out: "" }, err)
          assert.match(err, /^The database cannot be used: .*(?:nowhere|stranger)[^\n]*\n$/)
        }
      }))
  }
)
