import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * A page of a list that is sorted by id, newest first (operations.md section 0, "Cursors"). `maxId`: ids below;
 * `sinceId`: ids above, newest first; `minId`: the page just above it, which wins over `sinceId`. `limit` in rows.
 */
export interface Page {
  readonly maxId?: bigint | undefined
  readonly sinceId?: bigint | undefined
  readonly minId?: bigint | undefined
  readonly limit: number
}

/** A part of a list that is sorted by something that changes, by how far it is from the beginning. Both in rows. */
export interface Stretch {
  readonly offset: number
  readonly limit: number
}

/** Rows from the beginning of such a list beyond which nothing is found. */
const offsetMax = 100_000

/** The part that was asked for; what lies before the beginning begins there. */
export const stretchOf = (
  asked: { readonly offset?: number | undefined; readonly limit?: number | undefined },
  defaultRows: number
): Stretch => ({
  offset: Math.min(Math.max(0, asked.offset ?? 0), offsetMax),
  limit: limitOf(asked.limit, defaultRows)
})

/** The page's limit: the absolute value of what was asked, at most twice the default; the default where none was asked. */
export const limitOf = (asked: number | undefined, defaultRows: number): number =>
  asked === undefined ? defaultRows : Math.min(Math.abs(Math.trunc(asked)), defaultRows * 2)

/**
 * A limit as part of a statement's text. Postgres would not know of a parameter how few rows are wanted. It would plan
 * the statement anew each time it is run.
 */
export const rowsMax = (sql: SqlClient, rows: number): Fragment => sql.literal(String(Math.max(0, Math.trunc(rows))))

/** The condition, order and limit for `column`; `minId` fetches upwards, so rows must pass through `newestFirst`. */
export const clauses = (sql: SqlClient, column: string, page: Page) => {
  const id = sql.literal(column)
  const conditions: Array<Fragment> = []
  if (page.maxId !== undefined) conditions.push(sql`${id} < ${page.maxId}`)
  if (page.minId !== undefined) conditions.push(sql`${id} > ${page.minId}`)
  else if (page.sinceId !== undefined) conditions.push(sql`${id} > ${page.sinceId}`)
  return {
    where: conditions.length === 0 ? sql`TRUE` : sql.and(conditions),
    tail: sql`ORDER BY ${id} ${sql.literal(page.minId === undefined ? "DESC" : "ASC")} LIMIT ${
      rowsMax(sql, page.limit)
    }`
  }
}

/** Rows as they came from a query with `clauses`, newest first. */
export const newestFirst = <A>(page: Page, rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  page.minId === undefined ? rows : rows.toReversed()

/** The same page of ids that are in memory already, sorted from the newest. */
export const slice = (page: Page, ids: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  const { maxId, minId, sinceId } = page
  const above = minId ?? sinceId
  const inside = ids.filter((id) => (maxId === undefined || id < maxId) && (above === undefined || id > above))
  return minId === undefined ? inside.slice(0, page.limit) : inside.slice(-page.limit)
}
