import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf, singleRow } from "./Rows.ts"

/** Maximum counted rows of a list; one more means "more than that". */
export const listCountMax = 10_000

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** Counts the rows of a statement that has no LIMIT: exact up to `listCountMax`, one more for any larger number. */
export const boundedCount = (sql: SqlClient) => (rows: Fragment): Effect.Effect<number> =>
  countRows(sql`SELECT count(*)::int AS count FROM (${rows} LIMIT ${sql.literal(String(listCountMax + 1))}) counted`)
    .pipe(Effect.map((found) => singleRow(found).count), Effect.orDie)
