import { Clock, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { only, rowsOf } from "../services/Rows.ts"

const skewRows = rowsOf(Schema.Struct({ millis: Schema.Number }))

/** How far this machine's clock is from that of Postgres before somebody should know, in milliseconds. */
export const skewMillisMax = 10_000

/**
 * By how many milliseconds this machine's clock is ahead of that of Postgres, behind where it is negative. Postgres is
 * asked for its time here only, to be compared with; times of rows are always `Clock`'s.
 */
export const skew = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const before = yield* Clock.currentTimeMillis
  const { millis } = only(
    yield* skewRows(sql`SELECT extract(epoch FROM statement_timestamp())::float8 * 1000 AS millis`)
  )
  const after = yield* Clock.currentTimeMillis
  return Math.round((before + after) / 2 - millis)
})

/** The complaint about a skew, in words for the operator; undefined where there is none. */
export const complaint = (millis: number): string | undefined =>
  Math.abs(millis) <= skewMillisMax
    ? undefined
    : `the clock of this machine is ${Math.round(Math.abs(millis) / 1_000)} s ${
      millis > 0 ? "ahead of" : "behind"
    } that of Postgres; set both by NTP. Posts are dated by this machine, and signatures of other servers hold for minutes.`

/** Compares the clocks when the server starts. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const wrong = complaint(yield* skew)
    if (wrong !== undefined) yield* Effect.logError(wrong)
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.logWarning("the clock was not compared with Postgres'", error)))
)
