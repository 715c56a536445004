import { Effect, Metric, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"

/** Maximum distinct outcomes in the metric, first come first served; the rest is "other". */
export const outcomesMax = 100
/** Maximum characters of an outcome's label in the metric. */
const labelCharactersMax = 100

const outcomes = Metric.counter("murmuration_inbound_outcomes_total", {
  description: "Activities of other servers, by outcome",
  incremental: true
})

/** Incoming activity, as operators see it. */
export const ListedActivity = Schema.Struct({
  id: Schema.BigInt,
  /** Id of the sender. */
  actor: Schema.String,
  uri: Schema.String,
  receivedAt: Timestamptz,
  tries: Schema.Int,
  /** Null while it waits. */
  outcome: Schema.NullOr(Schema.String)
})
export type ListedActivity = typeof ListedActivity.Type
const listedRows = rowsOf(ListedActivity)

/** Number of activities with an outcome. */
export const OutcomeCount = Schema.Struct({ outcome: Schema.String, count: Schema.Int })
export type OutcomeCount = typeof OutcomeCount.Type
const countRows = rowsOf(OutcomeCount)

/** Counts an outcome, and logs it at debug level so that operators can trace a single activity. */
export const make = () => {
  const known = new Set<string>()
  const labelOf = (outcome: string): string => {
    const [label = ""] = outcome.slice(0, labelCharactersMax).split(";")
    if (!known.has(label) && known.size >= outcomesMax) return "other"
    known.add(label)
    return label
  }
  return (id: bigint, outcome: string): Effect.Effect<void> =>
    Metric.update(Metric.withAttributes(outcomes, { outcome: labelOf(outcome) }), 1).pipe(
      Effect.andThen(
        outcome.startsWith("done")
          ? Effect.void
          : Effect.logDebug("an activity had no effect").pipe(Effect.annotateLogs({ activity: String(id), outcome }))
      )
    )
}

const isNumber = (text: string) => /^[0-9]{1,18}$/.test(text)

/** Returns activities by their id, their actor's id or their number here, newest first; they are kept for a week. */
export const history = (
  sql: SqlClient,
  name: string,
  rows: number
): Effect.Effect<ReadonlyArray<ListedActivity>, SqlError> =>
  listedRows(sql`SELECT i.id, coalesce(a.uri, a.username) AS actor, i.uri, i.received_at, i.tries, i.outcome
    FROM inbound_activities i JOIN accounts a ON a.id = i.account_id
    WHERE i.uri = ${name} OR a.uri = ${name} OR i.id = ${isNumber(name) ? BigInt(name) : -1n}
    ORDER BY i.id DESC LIMIT ${rowsMax(sql, rows)}`)

/** Counts the stored activities by outcome, most frequent first. */
export const ends = (sql: SqlClient, rows: number): Effect.Effect<ReadonlyArray<OutcomeCount>, SqlError> =>
  countRows(sql`SELECT outcome, count(*)::int AS count FROM inbound_activities WHERE outcome IS NOT NULL
    GROUP BY outcome ORDER BY count(*) DESC, outcome LIMIT ${rowsMax(sql, rows)}`)
