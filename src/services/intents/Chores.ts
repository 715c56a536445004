import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { transaction } from "../Transactions.ts"

/** What is done from time to time by one node of all. */
type Chore = "trends of tags" | "trends of statuses" | "trends of links" | "e-mails about trends" | "popular accounts"

const claimRows = rowsOf(Schema.Struct({ before: Schema.NullOr(Timestamptz) }))

/** When a turn takes place, and when the one before it did; undefined where there was none. In milliseconds since 1970. */
export interface Turn {
  readonly now: number
  readonly before: number | undefined
}

/**
 * Does something in a transaction of its own where the last time is at least `periodMillis` ago; answers whether it did.
 * However many nodes come at once, one of them does it: the others wait for its transaction and find it done.
 */
export const onceIn = Effect.fnUntraced(
  function*<R>(
    sql: SqlClient,
    chore: Chore,
    periodMillis: number,
    work: (turn: Turn) => Effect.Effect<void, SqlError, R>
  ) {
    const now = yield* Clock.currentTimeMillis
    // A moment that lies ahead was set by a clock that was wrong.
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
