import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { figureCache } from "./KeptFigures.ts"
import { midnightOf, momentsOf, type Period } from "./Period.ts"

type Frequency = "day" | "month"

/** Users who signed up in one day or month, and how many of them were active in it and in each later one. */
interface Cohort {
  readonly period: Date
  readonly frequency: Frequency
  readonly data: ReadonlyArray<{ readonly date: Date; readonly rate: number; readonly value: number }>
}

/** Maximum days and months, newest first. */
const stepsMax = { day: 62, month: 36 } as const

const countRows = rowsOf(Schema.Struct({ came: Schema.String, seen: Schema.NullOr(Schema.String), users: Schema.Int }))

const stepsOf = ({ first, last }: Period, frequency: Frequency): ReadonlyArray<Date> => {
  const found = new Map<string, Date>()
  for (let day = last; day >= first && found.size <= stepsMax[frequency]; day--) {
    const date = midnightOf(day)
    if (frequency === "month") date.setUTCDate(1)
    found.set(nameOf(date), date)
  }
  return [...found.values()].slice(0, stepsMax[frequency]).toReversed()
}

const nameOf = (date: Date) => date.toISOString().slice(0, 10)

/** Retention of users, as Mastodon counts it: by their last visit. */
export class Cohorts extends Context.Service<Cohorts, {
  readonly of: (period: Period, frequency: Frequency) => Effect.Effect<ReadonlyArray<Cohort>>
}>()("murmuration/services/metrics/Cohorts") {
  static readonly layer = Layer.effect(
    Cohorts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cached = figureCache<ReadonlyArray<Cohort>>()
      const count = Effect.fnUntraced(function*(period: Period, frequency: Frequency) {
        const steps = stepsOf(period, frequency)
        const [oldest] = steps
        if (oldest === undefined) return []
        const step = (column: string) =>
          sql`date_trunc(${frequency}::text, ${sql.literal(column)} AT TIME ZONE 'UTC')::date::text`
        // The last visit gives each user's retention, so one pass over the users is enough.
        const rows = yield* countRows(sql`SELECT ${step("created_at")} AS came, ${step("last_seen_at")} AS seen,
            count(*)::int AS users FROM users
          WHERE created_at >= ${oldest} AND created_at < ${momentsOf(period).to} GROUP BY 1, 2`)
        const byCohort = Map.groupBy(rows, ({ came }) => came)
        return steps.map((start, at) => {
          const own = byCohort.get(nameOf(start)) ?? []
          const all = own.reduce((sum, { users }) => sum + users, 0)
          return {
            period: start,
            frequency,
            data: steps.slice(at).map((date) => {
              const name = nameOf(date)
              const value = own.reduce((sum, { seen, users }) => seen !== null && seen >= name ? sum + users : sum, 0)
              return { date, value, rate: value / Math.max(1, all) }
            })
          }
        })
      }, Effect.orDie)
      return Cohorts.of({
        of: traced("Cohorts.of")((period, frequency) =>
          cached([frequency, period.first, period.last].join(" "), count(period, frequency))
        )
      })
    })
  )
}
