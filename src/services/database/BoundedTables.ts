import { Effect } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { rowsMax } from "./Paging.ts"

/** Maximum rows listed of a bounded table. Exceeds every bound, so rows above a lowered bound are still listed. */
export const listedRowsMax = 1_000

/** Upper bound of a table's rows. */
interface TableBound {
  readonly table: string
  /** The rows' plural in the error's text, such as "Webhooks". */
  readonly name: string
  readonly max: number
  /** Condition for the rows that count; all rows by default. */
  readonly counted?: Fragment
}

/**
 * Checks that a table holds fewer rows than its bound, in the current transaction. Inserts that call this are
 * serialised until their transactions end: without a lock, concurrent inserts could exceed the bound together. Fails
 * with "... are too many" if the table is full.
 */
export const requireCapacity = (
  sql: SqlClient,
  { counted = sql.literal("TRUE"), max, name, table }: TableBound
): Effect.Effect<void, Unprocessable | SqlError> =>
  Effect.gen(function*() {
    yield* lockBound(sql, table)
    // Triggers count the rows of large tables; below the bound, no rows are read.
    const last = yield* sql`SELECT FROM ${sql(table)} WHERE (${counted})
      AND NOT EXISTS (SELECT FROM row_counts c WHERE c.name = ${table} AND c.rows < ${max})
      OFFSET ${rowsMax(sql, max - 1)} LIMIT 1`
    if (last.length > 0) return yield* validationFailed(`${name} are too many (maximum is ${max})`)
  })

/**
 * Serialises inserts into a bounded table until the transaction ends; a later statement counts the rows. Deletes and
 * updates take it first if a transaction may combine them with inserts: all locks of the table come after this one.
 */
export const lockBound = (sql: SqlClient, table: string) =>
  sql`SELECT pg_advisory_xact_lock(hashtextextended(${`rows of ${table}`}, 0))`
