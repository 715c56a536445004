import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"

/** Maximum counted rows of a kind. */
export const backlogRowsMax = 10_000

const kinds = ["fanouts", "agenda", "commands", "inbound", "jobs", "media"] as const
type BacklogKind = typeof kinds[number]

const Backlog = Schema.Struct({
  kind: Schema.Literals(kinds),
  /** `backlogRowsMax` for any larger number. */
  waiting: Schema.Int,
  /** Null if nothing waits. */
  oldestAt: Schema.NullOr(Timestamptz)
})
export type Backlog = typeof Backlog.Type
const backlogRows = rowsOf(Backlog)

/** Backlogs of durable work. */
export class Backlogs extends Context.Service<Backlogs, {
  /** Number of due items and the age of the oldest, by kind; one query with bounded parts. */
  readonly list: Effect.Effect<ReadonlyArray<Backlog>>
}>()("murmuration/services/metrics/Backlogs") {
  static readonly layer = Layer.effect(
    Backlogs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const max = rowsMax(sql, backlogRowsMax)
      const part = (kind: BacklogKind, rows: Fragment) =>
        sql`SELECT ${kind}::text AS kind, count(*)::int AS waiting, min(since) AS oldest_at FROM (${rows} LIMIT ${max}) w`
      return Backlogs.of({
        list: Effect.gen(function*() {
          const now = new Date(yield* Clock.currentTimeMillis)
          return yield* backlogRows(sql`
            ${part("fanouts", sql`SELECT created_at AS since FROM fanouts ORDER BY created_at`)}
            UNION ALL ${part("agenda", sql`SELECT due_at AS since FROM agenda WHERE due_at <= ${now} ORDER BY due_at`)}
            UNION ALL ${part("commands", sql`SELECT created_at AS since FROM account_intents`)}
            UNION ALL ${
            part(
              "inbound",
              sql`SELECT received_at AS since FROM inbound_activities WHERE outcome IS NULL ORDER BY due_at`
            )
          }
            UNION ALL ${part("jobs", sql`SELECT due_at AS since FROM errands WHERE due_at <= ${now} ORDER BY due_at`)}
            UNION ALL ${
            part(
              "media",
              sql`SELECT touched_at AS since FROM media_attachments WHERE state IN ('queued', 'processing')`
            )
          }`)
        }).pipe(Effect.orDie, Effect.withSpan("Backlogs.list"))
      })
    })
  )
}
