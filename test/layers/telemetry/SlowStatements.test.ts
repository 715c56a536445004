import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import * as SlowStatements from "../../../src/layers/telemetry/SlowStatements.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Counters of this process. */
const counters = Effect.map(PrometheusMetrics.format(), (text) => {
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0)
  return {
    count: value("murmuration_postgres_slow_statements_seen_total"),
    seconds: value("murmuration_postgres_slow_statement_seconds_total")
  }
})

/** Runs `during` while one statement of the server waits for a lock. */
const whileOneWaits = Effect.fnUntraced(function*<E, R>(during: Effect.Effect<void, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const lock = sql`SELECT pg_advisory_xact_lock(6)`
  const [locked, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const first = yield* Effect.forkChild(sql.withTransaction(
    lock.pipe(Effect.andThen(Deferred.succeed(locked, undefined)), Effect.andThen(Deferred.await(done)))
  ))
  yield* Deferred.await(locked)
  const second = yield* Effect.forkChild(sql.withTransaction(lock))
  yield* eventually(
    sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%pg_advisory_xact_lock(6)%'`,
    ([row]) => row?.count === 1
  )
  yield* during
  yield* Deferred.succeed(done, undefined)
  yield* Effect.all([Fiber.join(first), Fiber.join(second)])
})

layer(TestDatabase.layer, { excludeTestServices: true })("slow statements", (it) => {
  it.effect("a slow statement is counted once, with its time until it ended, and is still counted afterwards", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sample = SlowStatements.sampler(sql, 0)
      const before = yield* counters
      yield* whileOneWaits(Effect.gen(function*() {
        yield* sample
        const once = yield* counters
        assert.strictEqual(once.count, before.count + 1)
        assert.isAbove(once.seconds, before.seconds)
        yield* sample
        const twice = yield* counters
        assert.strictEqual(twice.count, once.count)
        assert.isAbove(twice.seconds, once.seconds)
      }))
      const ended = yield* counters
      yield* sample
      assert.deepStrictEqual(yield* counters, ended)
      yield* whileOneWaits(sample)
      assert.strictEqual((yield* counters).count, ended.count + 1)
    }))

  it.effect("a fast statement is not counted", () =>
    Effect.gen(function*() {
      const before = yield* counters
      yield* whileOneWaits(SlowStatements.sampler(yield* SqlClient.SqlClient, 60_000))
      assert.deepStrictEqual(yield* counters, before)
    }))

  it.effect("a server counts slow statements while it runs", () =>
    Effect.scoped(Effect.gen(function*() {
      const before = yield* counters
      yield* Layer.build(SlowStatements.layer)
      yield* whileOneWaits(Effect.asVoid(eventually(counters, ({ count }) => count === before.count + 1)))
    })))
})
