import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Eventually.ts"

/** Runs `during` while one statement of the server waits for the advisory lock `key`. */
export const whileOneWaits = Effect.fnUntraced(function*<E, R>(key: number, during: Effect.Effect<void, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const lock = sql`SELECT pg_advisory_xact_lock(${sql.literal(String(key))})`
  const [locked, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const first = yield* Effect.forkChild(sql.withTransaction(
    lock.pipe(Effect.andThen(Deferred.succeed(locked, undefined)), Effect.andThen(Deferred.await(done)))
  ))
  yield* Deferred.await(locked)
  const second = yield* Effect.forkChild(sql.withTransaction(lock))
  yield* eventually(
    sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'
        AND query LIKE ${`%pg_advisory_xact_lock(${key})%`}`,
    ([row]) => row?.count === 1
  )
  yield* during
  yield* Deferred.succeed(done, undefined)
  yield* Effect.all([Fiber.join(first), Fiber.join(second)])
})
