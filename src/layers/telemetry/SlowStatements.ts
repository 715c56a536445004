import { Effect, Layer, Metric, Schedule, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../../services/database/Rows.ts"
import { slowMillis } from "../../services/metrics/PostgresFigures.ts"
import { HeldSessions } from "../Database.ts"

const seenTotal = Metric.counter("murmuration_postgres_slow_statements_seen_total", {
  description: "Statements of this program that ran for more than a second; the same on every node",
  incremental: true
})
const secondsTotal = Metric.counter("murmuration_postgres_slow_statement_seconds_total", {
  description: "Time that these statements took, from their begin until they were last seen; the same on every node",
  incremental: true
})

/** Period of the samples: a statement that takes it longer than the bound is always seen. */
const samplePeriod = "500 millis"
/** Maximum statements of a sample; a server has fewer sessions. */
const sampleMax = 10_000

const statementRows = rowsOf(Schema.Struct({ statement: Schema.String, seconds: Schema.Number }))

/**
 * Returns an effect that samples the running statements of this database. It counts each one that has run for longer
 * than `boundMillis` once, and adds up their time. Postgres itself counts statements only with an optional extension.
 * Both ends of a statement's time are read from the clock of Postgres, which may be on another machine.
 */
export const sampler = (sql: SqlClient.SqlClient, boundMillis = slowMillis) => {
  let before = new Map<string, number>()
  return Effect.gen(function*() {
    const rows = yield* statementRows(sql`SELECT pid || ' ' || query_start AS statement,
        extract(epoch FROM clock_timestamp() - query_start)::float8 AS seconds
      FROM pg_stat_activity
      WHERE state = 'active' AND datname = current_database() AND application_name LIKE 'murmuration%'
        AND pid <> pg_backend_pid()
        AND query_start < clock_timestamp() - ${boundMillis}::int * interval '1 millisecond'
      LIMIT ${sampleMax}`)
    const found = new Map(rows.map(({ seconds, statement }) => [statement, seconds]))
    for (const [statement, seconds] of found) {
      const earlier = before.get(statement)
      if (earlier === undefined) yield* Metric.update(seenTotal, 1)
      yield* Metric.update(secondsTotal, Math.max(0, seconds - (earlier ?? 0)))
    }
    before = found
  })
}

/**
 * Counts slow statements while the server runs. Uses a long-held session: slow statements may hold all others. Without
 * Postgres the counts stay.
 */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  // A collector computes an increase only from a value that it knew before.
  for (const counter of [seenTotal, secondsTotal]) yield* Metric.update(counter, 0)
  const sample = sampler(yield* HeldSessions).pipe(
    Effect.catchCause((cause) => Effect.logDebug("slow statements could not be counted", cause))
  )
  yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(samplePeriod)))
}))
