import { Clock, Effect, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { elapsedMillis } from "../runtime/ElapsedMillis.ts"

const sessions = Metric.gauge("murmuration_postgres_sessions", {
  description: "Sessions of this program's nodes in Postgres, by state"
})
const sessionsMax = Metric.gauge("murmuration_postgres_sessions_max", {
  description: "Sessions that Postgres admits (`max_connections`)"
})
const longest = Metric.gauge("murmuration_postgres_longest_statement_seconds", {
  description: "Age of the longest running statement of this program"
})
const slow = Metric.gauge("murmuration_postgres_slow_statements", {
  description: "Running statements of this program that began more than a second ago"
})
const waits = Metric.gauge("murmuration_postgres_lock_waits", {
  description: "Sessions of this program that wait for a lock"
})
const response = Metric.gauge("murmuration_postgres_response_seconds", {
  description: "Time of a trivial statement at the last scrape, with its wait for a free connection of this node"
})
const archiveFailing = Metric.gauge("murmuration_postgres_archive_failing", {
  description:
    "1 if Postgres failed to archive its write-ahead log at the last attempt (`WAL_ARCHIVE_DIR`), otherwise 0"
})

/** Age from which a running statement is slow, in milliseconds. */
export const slowMillis = 1_000

const states = ["active", "idle", "idle in transaction", "other"] as const
const stateOf = (state: string) => states.find((one) => one === state) ?? "other"
const sessionRows = rowsOf(
  Schema.Struct({
    state: Schema.String,
    count: Schema.Int,
    slow: Schema.Int,
    waits: Schema.Int,
    since: Schema.NullOr(Timestamptz)
  })
)
const limitRows = rowsOf(Schema.Struct({ max: Schema.Int }))
const archiverRows = rowsOf(Schema.Struct({ failing: Schema.Boolean }))

/** Returns an effect that updates the gauges of Postgres, for a scrape. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  return Effect.gen(function*() {
    const began = yield* elapsedMillis
    const [limit] = yield* limitRows(sql`SELECT current_setting('max_connections')::int AS max`)
    yield* Metric.update(response, ((yield* elapsedMillis) - began) / 1_000)
    yield* Metric.update(sessionsMax, limit?.max ?? 0)
    const [archiver] = yield* archiverRows(sql`SELECT last_failed_time IS NOT NULL
        AND (last_archived_time IS NULL OR last_failed_time > last_archived_time) AS failing FROM pg_stat_archiver`)
    yield* Metric.update(archiveFailing, archiver?.failing === true ? 1 : 0)
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sessionRows(sql`SELECT coalesce(state, 'other') AS state, count(*)::int AS count,
        (count(*) FILTER (WHERE state = 'active' AND query_start < ${new Date(now - slowMillis)}))::int AS slow,
        (count(*) FILTER (WHERE wait_event_type = 'Lock'))::int AS waits,
        min(query_start) FILTER (WHERE state = 'active') AS since
      FROM pg_stat_activity WHERE application_name LIKE 'murmuration%' AND pid <> pg_backend_pid() GROUP BY 1`)
    const sum = (of: (row: typeof rows[number]) => number) => rows.reduce((before, row) => before + of(row), 0)
    for (const state of states) {
      yield* Metric.update(
        Metric.withAttributes(sessions, { state }),
        sum((row) => stateOf(row.state) === state ? row.count : 0)
      )
    }
    const ages = rows.map(({ since }) => since === null ? 0 : now - since.getTime())
    yield* Metric.update(longest, Math.max(0, ...ages) / 1_000)
    yield* Metric.update(slow, sum((row) => row.slow))
    yield* Metric.update(waits, sum((row) => row.waits))
  })
})
