import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError } from "effect/sql/SqlError"

/** How long each statement of a search may take the database, in milliseconds (row 83). */
export const searchMillisMax = 250

/** By indexes, as they were made for it: what Postgres' settings are for long reports costs a search more than it gains. */
const settings = [
  ["statement_timeout", String(searchMillisMax)],
  ["enable_seqscan", "off"],
  ["jit", "off"],
  ["max_parallel_workers_per_gather", "0"]
]

/** Runs a search with a limit of time of its own; Postgres' answer to one that exceeds it is an empty list. */
export const bounded = <A, E, R>(sql: SqlClient, search: Effect.Effect<ReadonlyArray<A>, E, R>) =>
  sql`SELECT ${sql.csv(settings.map(([name, value]) => sql.literal(`set_config('${name}', '${value}', true)`)))}`.pipe(
    Effect.andThen(search),
    sql.withTransaction,
    Effect.catchIf(isTimeout, () => Effect.as(Effect.logInfo("a search took too long"), [])),
    Effect.orDie
  )

const isTimeout = (error: unknown): boolean => isSqlError(error) && error.reason._tag === "StatementTimeoutError"
