import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"

/** Periodic work, done by one node of the cluster. */
type PeriodicWork =
  | "trends of tags"
  | "trends of statuses"
  | "trends of links"
  | "e-mails about trends"
  | "popular accounts"

const claimRows = rowsOf(Schema.Struct({ before: Schema.NullOr(Timestamptz) }))

/** Time of this run, and of the previous one if any, in milliseconds since 1970. */
export interface Turn {
  readonly now: number
  readonly before: number | undefined
}

/**
 * Runs work in a transaction if the last run is at least `periodMillis` ago; returns true if it ran. Concurrent nodes
 * wait for the transaction of the first one, and then skip.
 */
export const runIfDue = Effect.fnUntraced(
  function*<R>(
    sql: SqlClient,
    chore: PeriodicWork,
    periodMillis: number,
    work: (turn: Turn) => Effect.Effect<void, SqlError, R>
  ) {
    const now = yield* Clock.currentTimeMillis
    // A last run in the future was recorded by a wrong clock.
    const [claim] = yield* claimRows(sql`
      INSERT INTO chores (name, begun_at) VALUES (${chore}, ${new Date(now)})
      ON CONFLICT (name) DO UPDATE SET begun_at = excluded.begun_at
        WHERE chores.begun_at <= ${new Date(now - periodMillis)} OR chores.begun_at > ${new Date(now + periodMillis)}
      RETURNING (SELECT begun_at FROM chores WHERE name = ${chore}) AS before`)
    if (claim === undefined) return false
    yield* work({ now, before: claim.before?.getTime() })
    return true
  },
  (effect, sql) => transaction(sql)(effect)
)
