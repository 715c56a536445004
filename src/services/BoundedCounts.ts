import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { only, rowsOf } from "./Rows.ts"

/** Rows of a list up to which they are counted; one more stands for all beyond. */
export const listCountMax = 10_000

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** How many rows a statement without a limit has: exactly up to `listCountMax`, and one more where there are more. */
export const boundedCount = (sql: SqlClient) => (rows: Fragment): Effect.Effect<number> =>
  countRows(sql`SELECT count(*)::int AS count FROM (${rows} LIMIT ${sql.literal(String(listCountMax + 1))}) counted`)
    .pipe(Effect.map((found) => only(found).count), Effect.orDie)
