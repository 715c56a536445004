import { Effect, Metric } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../Paging.ts"

/** Outcomes that are counted by themselves, in the order in which they come; the rest is "other". */
export const outcomesMax = 100
/** Characters of an outcome that it is counted by. */
const labelCharactersMax = 100

const outcomes = Metric.counter("murmuration_inbound_outcomes", {
  description: "Activities of other servers by what became of them",
  incremental: true
})

/** An activity that came in, as operators look at it. */
export interface Came {
  readonly id: bigint
  /** Of the sender. */
  readonly actor: string
  readonly uri: string
  readonly receivedAt: Date
  readonly tries: number
  /** Null while it waits. */
  readonly outcome: string | null
}

/** How many came to the same end. */
export interface Ends {
  readonly outcome: string
  readonly count: number
}

/** Counts an outcome, and says it in the log of whoever looks for a single activity. */
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
          : Effect.logDebug("nothing came of an activity").pipe(Effect.annotateLogs({ activity: String(id), outcome }))
      )
    )
}

const isNumber = (text: string) => /^[0-9]{1,18}$/.test(text)

/** Activities under an id, from an actor by its id, or under our number; the newest first, for a week. */
export const history = (
  sql: SqlClient,
  name: string,
  rows: number
): Effect.Effect<ReadonlyArray<Came>, SqlError> =>
  sql<Came>`SELECT i.id, coalesce(a.uri, a.username) AS actor, i.uri, i.received_at, i.tries, i.outcome
    FROM inbound_activities i JOIN accounts a ON a.id = i.account_id
    WHERE i.uri = ${name} OR a.uri = ${name} OR i.id = ${isNumber(name) ? BigInt(name) : -1n}
    ORDER BY i.id DESC LIMIT ${rowsMax(sql, rows)}`

/** To which ends everything came that is still known, the most frequent first. */
export const ends = (sql: SqlClient, rows: number): Effect.Effect<ReadonlyArray<Ends>, SqlError> =>
  sql<Ends>`SELECT outcome, count(*)::int AS count FROM inbound_activities WHERE outcome IS NOT NULL
    GROUP BY outcome ORDER BY count(*) DESC, outcome LIMIT ${rowsMax(sql, rows)}`
