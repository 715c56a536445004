import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import * as SlowStatements from "../../../src/layers/telemetry/SlowStatements.ts"
import { eventually } from "../../support/Eventually.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"
import { whileOneWaits } from "../../support/LockWaits.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Returns the counters of this process. */
const counters = Effect.map(PrometheusMetrics.format(), (text) => {
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0)
  return {
    count: value("murmuration_postgres_slow_statements_seen_total"),
    seconds: value("murmuration_postgres_slow_statement_seconds_total")
  }
})

layer(TestDatabase.layer, { excludeTestServices: true })("slow statements", (it) => {
  it.effect("a slow statement is counted once, with its time until it ended, and is still counted afterwards", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const sample = SlowStatements.sampler(sql, 0)
      const before = yield* counters
      yield* whileOneWaits(
        6,
        Effect.gen(function*() {
          yield* sample
          const once = yield* counters
          assert.strictEqual(once.count, before.count + 1)
          assert.isAbove(once.seconds, before.seconds)
          yield* sample
          const twice = yield* counters
          assert.strictEqual(twice.count, once.count)
          assert.isAbove(twice.seconds, once.seconds)
        })
      )
      const ended = yield* counters
      yield* sample
      assert.deepStrictEqual(yield* counters, ended)
      yield* whileOneWaits(6, sample)
      assert.strictEqual((yield* counters).count, ended.count + 1)
    }))

  for (const hours of [-1, 1]) {
    it.effect(`F431: the clock of this machine does not count, here ${hours} hours from that of Postgres`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { jump, within } = yield* jumpingClock
        jump(hours * 3_600_000)
        const before = yield* counters
        yield* whileOneWaits(
          6,
          Effect.gen(function*() {
            yield* SlowStatements.sampler(sql, 60_000)
            assert.deepStrictEqual(yield* counters, before)
            yield* SlowStatements.sampler(sql, 0)
            assert.strictEqual((yield* counters).count, before.count + 1)
          }).pipe(within)
        )
      }))
  }

  it.effect("a fast statement is not counted", () =>
    Effect.gen(function*() {
      const before = yield* counters
      yield* whileOneWaits(6, SlowStatements.sampler(yield* SqlClient.SqlClient, 60_000))
      assert.deepStrictEqual(yield* counters, before)
    }))

  it.effect("a server counts slow statements while it runs", () =>
    Effect.scoped(Effect.gen(function*() {
      const before = yield* counters
      yield* Layer.build(SlowStatements.layer)
      yield* whileOneWaits(6, Effect.asVoid(eventually(counters, ({ count }) => count === before.count + 1)))
    })))
})
