import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { idAt } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"

/** Activity of one week. */
export interface WeekOfActivity {
  /** Monday of the week, midnight UTC, in seconds since 1970. */
  readonly start: number
  readonly statuses: number
  readonly logins: number
  readonly registrations: number
}

const weekRows = rowsOf(Schema.Struct({ statuses: Schema.Int, logins: Schema.Int, registrations: Schema.Int }))

/** Weeks in the statistics (S-226). */
const activityWeeks = 12
/** Lifetime of the cached counts, in milliseconds. */
const activityMillisMax = 3_600_000

const weekMillis = 7 * 86_400_000
/** First Monday of 1970, which began on a Thursday. */
const firstMonday = 4 * 86_400_000

export class Activity extends Context.Service<Activity, {
  /** The last twelve weeks, the current one first; at most an hour old. */
  readonly weeks: Effect.Effect<ReadonlyArray<WeekOfActivity>>
}>()("murmuration/services/instance/Activity") {
  static readonly layer = Layer.effect(
    Activity,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      let counted: { readonly at: number; readonly weeks: ReadonlyArray<WeekOfActivity> } | undefined

      const count = (now: number) => {
        const present = Math.floor((now - firstMonday) / weekMillis) * weekMillis + firstMonday
        const starts = Array.from({ length: activityWeeks }, (_, back) => present - back * weekMillis)
        return Effect.forEach(starts, (start) => {
          const [from, to] = [new Date(start), new Date(start + weekMillis)]
          return Effect.map(
            weekRows(sql`SELECT
              (SELECT count(*)::int FROM statuses WHERE id >= ${idAt(start)} AND id < ${idAt(start + weekMillis)}
                AND local AND deleted_at IS NULL) AS statuses,
              (SELECT count(*)::int FROM weekly_logins WHERE week = ${from.toISOString().slice(0, 10)}::date) AS logins,
              (SELECT count(*)::int FROM users WHERE created_at >= ${from} AND created_at < ${to}) AS registrations`),
            ([row]) => ({ statuses: 0, logins: 0, registrations: 0, ...row, start: start / 1000 })
          )
        })
      }

      return Activity.of({
        weeks: Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          if (counted !== undefined && now - counted.at < activityMillisMax && now >= counted.at) return counted.weeks
          const weeks = yield* count(now)
          counted = { at: now, weeks }
          return weeks
        }).pipe(Effect.orDie, Effect.withSpan("Activity.weeks"))
      })
    })
  )
}
