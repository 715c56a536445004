import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"

/**
 * Page of a list that is sorted by id, newest first (operations.md section 0, "Cursors"). `maxId`: ids below;
 * `sinceId`: ids above, newest first; `minId`: the page just above it, wins over `sinceId`. `limit` is in rows.
 */
export interface Page {
  readonly maxId?: bigint | undefined
  readonly sinceId?: bigint | undefined
  readonly minId?: bigint | undefined
  readonly limit: number
}

/** Page by offset, for lists that are sorted by a value that changes. Both in rows. */
export interface OffsetPage {
  readonly offset: number
  readonly limit: number
}

/** Maximum offset, in rows. */
const offsetMax = 100_000

/** Returns the requested page by offset; negative offsets count as 0. */
export const offsetPageOf = (
  asked: { readonly offset?: number | undefined; readonly limit?: number | undefined },
  defaultRows: number
): OffsetPage => ({
  offset: Math.min(Math.max(0, asked.offset ?? 0), offsetMax),
  limit: limitOf(asked.limit, defaultRows)
})

/** Returns the page's limit: the absolute value of the requested one, at most twice the default. */
export const limitOf = (asked: number | undefined, defaultRows: number): number =>
  asked === undefined ? defaultRows : Math.min(Math.abs(Math.trunc(asked)), defaultRows * 2)

/**
 * Returns a limit as a literal in the statement's text. With a parameter Postgres would not know how few rows are
 * wanted, and would plan the statement on every run.
 */
export const rowsMax = (sql: SqlClient, rows: number): Fragment => sql.literal(String(Math.max(0, Math.trunc(rows))))

/**
 * Returns the condition, order and limit for `column`; `minId` fetches upwards, so rows must pass through
 * `newestFirst`.
 */
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

/** Returns the rows of a query with `clauses`, newest first. */
export const newestFirst = <A>(page: Page, rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  page.minId === undefined ? rows : rows.toReversed()

/** Returns a page of ids that are already in memory, sorted newest first. */
export const slice = (page: Page, ids: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  const { maxId, minId, sinceId } = page
  const above = minId ?? sinceId
  const inRange = ids.filter((id) => (maxId === undefined || id < maxId) && (above === undefined || id > above))
  return minId === undefined ? inRange.slice(0, page.limit) : inRange.slice(-page.limit)
}
