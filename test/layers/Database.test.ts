import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import * as Database from "../../src/layers/Database.ts"
import { eventually } from "../support/Eventually.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const files = readdirSync(new URL("../../migrations", import.meta.url)).filter((name) => name.endsWith(".ts"))

layer(TestDatabase.layer, { excludeTestServices: true })("Database", (it) => {
  it.effect("uses camelCase in code and snake_case in Postgres, and leaves documents unchanged", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sent = new Date(1_700_000_000_123)
      const body = { snake_key: { camelKey: 1 } }
      yield* sql`CREATE TABLE letters (id bigint, sent_at timestamptz, body jsonb)`
      const row = { id: 2n ** 60n, sentAt: sent, body: JSON.stringify(body) }
      const rows = yield* sql`INSERT INTO letters ${sql.insert(row)} RETURNING *`
      assert.deepStrictEqual(rows, [{ id: 2n ** 60n, sentAt: sent, body }])
    }))

  it.effect("makes ids that sort by their times", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ readonly id: bigint }>`SELECT next_id(${1_700_000_000_000}) AS id`
      assert.strictEqual(rows[0]!.id >> 16n, 1_700_000_000_000n)
    }))
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true })("Database.migrate", (it) => {
  it.effect("coordinates nodes that start concurrently: one migrates, the others wait and find it done", () =>
    Effect.gen(function*() {
      const { connection } = yield* TestDatabase
      const runs = yield* Effect.all([1, 2, 3].map(() => Database.migrate(connection)), { concurrency: 3 })
      assert.deepStrictEqual(runs.map((done) => done.length).toSorted((a, b) => a - b), [0, 0, files.length])
      const rows = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT count(*)::int AS n FROM effect_sql_migrations`
      )
        .pipe(Effect.provide(Database.client(connection)))
      assert.deepStrictEqual(rows, [{ n: files.length }])
    }))
})

layer(TestDatabase.layerEmpty, { excludeTestServices: true })("Database.migrate of a running server", (it) => {
  it.effect("F294: statuses can be read while their index for public timelines is built", () =>
    Effect.gen(function*() {
      const { connection } = yield* TestDatabase
      yield* Database.migrate(connection, 106)
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [locked, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        // An open write stops the migration where it takes its first lock.
        const writer = yield* Effect.forkChild(sql.withTransaction(
          sql`LOCK TABLE statuses IN ROW EXCLUSIVE MODE`.pipe(
            Effect.andThen(Deferred.succeed(locked, undefined)),
            Effect.andThen(Deferred.await(over))
          )
        ))
        yield* Deferred.await(locked)
        const migrating = yield* Effect.forkChild(Database.migrate(connection, 107))
        yield* eventually(
          sql<{ readonly waits: boolean }>`SELECT EXISTS (SELECT FROM pg_locks
            WHERE relation = 'statuses'::regclass AND NOT granted) AS waits`,
          ([row]) => row!.waits
        )
        // Fails at once if it had to wait behind the migration.
        const read = yield* Effect.exit(
          sql.withTransaction(sql`LOCK TABLE statuses IN ACCESS SHARE MODE NOWAIT`)
        )
        yield* Deferred.succeed(over, undefined)
        yield* Fiber.join(writer)
        yield* Fiber.join(migrating)
        assert.isTrue(Exit.isSuccess(read), String(read))
        const [index] = yield* sql`SELECT indexdef LIKE '%NOT imported%' AS new FROM pg_indexes
          WHERE indexname = 'statuses_public'`
        assert.deepStrictEqual(index, { new: true })
      }).pipe(Effect.provide(Database.client(connection)))
    }))
})

describe("migrations", () => {
  it("are numbered without gaps, because a number at or below the last applied one is silently skipped", () => {
    const numbers = files.map((name) => /^(\d{4})_[a-z_]+\.ts$/.exec(name)?.[1] ?? name)
    assert.deepStrictEqual(numbers.toSorted(), files.map((_, index) => String(index + 1).padStart(4, "0")))
  })
})
