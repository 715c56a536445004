import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError } from "effect/sql/SqlError"

/** Timeout of each statement of a search, in milliseconds (row 83). */
export const searchMillisMax = 250

/** Index scans only; planner features for long reports cost a search more than they gain. */
const settings = [
  ["statement_timeout", String(searchMillisMax)],
  ["enable_seqscan", "off"],
  ["jit", "off"],
  ["max_parallel_workers_per_gather", "0"]
]

/** Runs a search with its own statement timeout; returns an empty list on timeout. */
export const bounded = <A, E, R>(sql: SqlClient, search: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  sql`SELECT ${sql.csv(settings.map(([name, value]) => sql.literal(`set_config('${name}', '${value}', true)`)))}`.pipe(
    Effect.andThen(search),
    sql.withTransaction,
    Effect.catchIf(isTimeout, () => Effect.as(Effect.logInfo("a search timed out"), [])),
    Effect.orDie
  )

const isTimeout = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "StatementTimeoutError"
