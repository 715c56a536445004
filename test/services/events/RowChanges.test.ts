import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast, type BroadcastMessage } from "../../../src/services/events/Broadcast.ts"
import * as RowChanges from "../../../src/services/events/RowChanges.ts"
import { committedOnly } from "../../support/CommittedOnly.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const services = Broadcast.layerMemory.pipe(Layer.provideMerge(TestDatabase.layer), Layer.provide(committedOnly))

/** Returns a `Tracked`, a write of one row, and the messages that were published so far. */
const started = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tracked = yield* RowChanges.make
  const broadcast = yield* Broadcast
  const told: Array<BroadcastMessage> = []
  yield* broadcast.onMessage((message) => told.push(message))
  return { sql, tracked, told, write: sql`SELECT 1 AS id` }
})
const changed = (kind: string, ...ids: ReadonlyArray<bigint>) => ({ _tag: "Changed", kind, ids })

layer(services, { excludeTestServices: true })("changes of rows", (it) => {
  it.effect("are published once per kind, after the commit", () =>
    Effect.gen(function*() {
      const { sql, told, tracked, write } = yield* started
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* tracked("status", [1n, 2n])(write)
        yield* tracked("status", [2n, 3n])(write)
        yield* tracked("roles")(tracked("account", [4n])(write))
        assert.deepStrictEqual(told, [])
      }))
      assert.deepStrictEqual<unknown>(told, [changed("status", 1n, 2n, 3n), changed("account", 4n), changed("roles")])
    }).pipe(Effect.scoped))

  it.effect("are not published after a rollback of the transaction or of a savepoint", () =>
    Effect.gen(function*() {
      const { sql, told, tracked, write } = yield* started
      const failing = sql.withTransaction(Effect.andThen(tracked("status", [1n])(write), Effect.fail("no")))
      yield* Effect.flip(failing)
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* Effect.flip(failing)
        yield* tracked("status", [2n])(write)
        yield* sql.withTransaction(tracked("status", [3n])(write))
      }))
      assert.deepStrictEqual<unknown>(told, [changed("status", 2n), changed("status", 3n)])
    }).pipe(Effect.scoped))

  it.effect("are published at once outside of a transaction, unless the write failed or changed no rows", () =>
    Effect.gen(function*() {
      const { told, tracked, write } = yield* started
      yield* Effect.flip(tracked("user", [1n])(Effect.fail("no")))
      yield* tracked("user", () => [])(write)
      assert.deepStrictEqual(told, [])
      yield* tracked("user", (rows: ReadonlyArray<unknown>) => rows.map(() => 5n))(write)
      assert.deepStrictEqual<unknown>(told, [changed("user", 5n)])
    }).pipe(Effect.scoped))

  it.effect("are published after each statement on a separate connection", () =>
    Effect.gen(function*() {
      const { sql, told, tracked, write } = yield* started
      const session = yield* sql.reserve
      yield* Effect.provideService(
        Effect.andThen(tracked("status", [1n])(write), tracked("status", [2n])(write)),
        sql.transactionService,
        [session, 0]
      )
      assert.deepStrictEqual<unknown>(told, [changed("status", 1n), changed("status", 2n)])
    }).pipe(Effect.scoped))

  it.effect("of many rows are published in several messages", () =>
    Effect.gen(function*() {
      const { told, tracked, write } = yield* started
      yield* tracked("account", Array.from({ length: 2_500 }, (_, n) => BigInt(n)))(write)
      assert.deepStrictEqual(told.map((message) => message._tag === "Changed" ? message.ids.length : 0), [
        1_000,
        1_000,
        500
      ])
    }).pipe(Effect.scoped))
})
