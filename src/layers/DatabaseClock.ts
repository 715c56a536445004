import { Clock, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../services/database/Rows.ts"

const skewRows = rowsOf(Schema.Struct({ millis: Schema.Number }))

/** Clock skew to Postgres from which the operator is warned, in milliseconds. */
export const skewMillisMax = 10_000

/**
 * Milliseconds by which this machine's clock is ahead of Postgres' (negative: behind). Only this comparison uses
 * Postgres' time; rows are always dated by `Clock`.
 */
export const skew = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const { millis } = singleRow(
    yield* skewRows(sql`SELECT extract(epoch FROM statement_timestamp())::float8 * 1000 AS millis`)
  )
  const after = yield* Clock.currentTimeMillis
  return Math.round((before + after) / 2 - millis)
})

/** Returns a message for the operator about a skew; undefined if it is within bounds. */
export const skewWarning = (millis: number): string | undefined =>
  Math.abs(millis) <= skewMillisMax
    ? undefined
    : `the clock of this machine is ${Math.round(Math.abs(millis) / 1_000)} s ${
      millis > 0 ? "ahead of" : "behind"
    } that of Postgres; synchronise both with NTP. This machine's clock dates posts and checks signatures, which are valid for minutes.`

/** Compares the clocks at the server's start. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const warning = skewWarning(yield* skew)
    if (warning !== undefined) yield* Effect.logError(warning)
  }).pipe(
    Effect.catchTag(
      "SqlError",
      (error) => Effect.logWarning("the clock could not be compared with that of Postgres", error)
    )
  )
)
