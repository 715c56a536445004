import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { isRetriedSmaller, type Kind } from "./Sweeping.ts"

/** Maximum rows whose references one statement checks. */
const visitedMax = 500

const visitedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, unused: Schema.Boolean }))

/** Statement that removes rows and returns their ids. */
type Removal = ReturnType<typeof idRows>

/** Unused rows of a table. */
interface Unused {
  readonly table: string
  /** Condition for an unused row with the alias `t`; `ago` returns the time that many days ago. */
  readonly condition: (ago: (days: number) => Date) => Fragment
  /** Wraps the removal, which tells the caches. */
  readonly removing?: (removal: Removal) => Removal
}

/** Columns that refer to a table, as "table.column". */
export type ReferringColumns = ReadonlyArray<`${string}.${string}`>

/**
 * SQL condition: no row refers to the row with the alias `t` by one of the columns. `OFFSET 0` makes the planner use
 * the index instead of reading a whole table.
 */
export const isUnreferenced = (sql: SqlClient, references: ReferringColumns): Fragment =>
  sql.and(references.map((reference) => {
    const [table = "", column = ""] = reference.split(".")
    return sql`NOT EXISTS (SELECT FROM ${sql(table)} r WHERE r.${sql(column)} = t.id OFFSET 0)`
  }))

/**
 * Walks through a table by id, in slices, and removes unused rows. Locks them and checks again: a new reference to a
 * row was either committed before the lock, or fails after it.
 */
export const unusedRows = (sql: SqlClient, { condition, removing, table }: Unused): Kind => {
  let last = 0n
  const remove = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, unused: Fragment) {
    const locked = yield* idRows(sql`SELECT t.id::bigint AS id FROM ${sql(table)} t WHERE t.id = ANY (${ids}::bigint[])
      ORDER BY t.id FOR UPDATE SKIP LOCKED`)
    const removal = idRows(sql`DELETE FROM ${sql(table)} t
      WHERE t.id = ANY (${locked.map(({ id }) => id)}::bigint[]) AND ${unused} RETURNING t.id::bigint AS id`)
    const removed = yield* (removing === undefined ? removal : removing(removal))
    return removed.length
  }, transaction(sql))
  return {
    name: `unused ${table}`,
    remove: Effect.fnUntraced(function*(ago, rows) {
      const limit = Math.min(rows, visitedMax)
      const unused = condition(ago)
      const visited = yield* visitedRows(sql`SELECT t.id::bigint AS id, (${unused}) AS unused FROM ${sql(table)} t
        WHERE t.id > ${last} ORDER BY t.id LIMIT ${rowsMax(sql, limit)}`)
      const ids = visited.flatMap(({ id, unused }) => unused ? [id] : [])
      const more = visited.length >= limit
      const advance = Effect.sync(() => {
        last = more ? visited.at(-1)?.id ?? 0n : 0n
      })
      // A smaller batch is tried at the same place; a batch that cannot be removed is skipped.
      const count = ids.length === 0 ? 0 : yield* Effect.onError(
        remove(ids, unused),
        (cause) => isRetriedSmaller(cause, rows) ? Effect.void : advance
      )
      yield* advance
      return { removed: count, more }
    })
  }
}
