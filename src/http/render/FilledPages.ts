import { Effect } from "effect"
import type { Page } from "../../services/database/Paging.ts"

/**
 * Maximum further reads to fill a page after filtering, and their rows. Afterwards the page stays short, and its cursor
 * continues the list.
 */
const furtherReadsMax = 5
const furtherRows = 40

/** Rows that were read for a page, from which its cursors are made, and those that may be shown. */
interface Rows<Row> {
  readonly read: ReadonlyArray<Row>
  readonly candidates: ReadonlyArray<Row>
}

/**
 * Fills up a page from which the viewer's filters removed rows, so that a list neither ends early nor has empty pages
 * in between (S-128). If nothing is removed, the page is read and rendered once. `show` leaves out what the filters
 * hide.
 */
export const filled = Effect.fnUntraced(function*<Row, Item, E, R>(options: {
  readonly page: Page
  readonly hides: Effect.Effect<boolean>
  /** Returns the rows that the filters do not hide. */
  readonly unhidden: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Row>, E, R>
  /** Returns the oldest and newest ids that a row covers. */
  readonly ends: (row: Row) => readonly [oldest: bigint, newest: bigint]
  readonly read: (page: Page) => Effect.Effect<Rows<Row>, E, R>
  readonly show: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Item>, E, R>
}): Effect.fn.Return<{ readonly read: ReadonlyArray<Row>; readonly items: ReadonlyArray<Item> }, E, R> {
  const { ends, page, show } = options
  const first = yield* options.read(page)
  const items = yield* show(first.candidates)
  // If the viewer has no hiding filters, other rules left the rows out.
  if (items.length === first.candidates.length || !(yield* options.hides)) return { read: first.read, items }
  const inOrder = <A>(rows: ReadonlyArray<A>) => page.minId === undefined ? rows : rows.toReversed()
  const [read, visibleRows]: [Array<Row>, Array<Row>] = [[], []]
  const take = Effect.fnUntraced(function*(rows: Rows<Row>) {
    const left = new Set(yield* options.unhidden(rows.candidates))
    for (const row of inOrder(rows.read)) {
      if (visibleRows.length >= page.limit) return
      read.push(row)
      if (left.has(row)) visibleRows.push(row)
    }
  })
  yield* take(first)
  let full = first.read.length >= page.limit
  for (let more = 0; full && visibleRows.length < page.limit && more < furtherReadsMax; more++) {
    const further = yield* options.read({ ...page, ...nextCursor(page, read.map(ends)), limit: furtherRows })
    full = further.read.length >= furtherRows
    yield* take(further)
  }
  return { read: inOrder(read), items: yield* show(inOrder(visibleRows)) }
})

/** Returns the cursor for the rows beyond those that were read. */
const nextCursor = (page: Page, read: ReadonlyArray<readonly [oldest: bigint, newest: bigint]>) =>
  page.minId === undefined
    ? { maxId: read.reduce((low, [oldest]) => oldest < low ? oldest : low, read[0]?.[0] ?? 0n) }
    : { minId: read.reduce((high, [, newest]) => newest > high ? newest : high, 0n) }

/** Rows that may all be shown. */
export const allShown = <Row>(rows: ReadonlyArray<Row>): Rows<Row> => ({ read: rows, candidates: rows })

/** Returns the ends of a row that is a single entry. */
export const singleEnds = (id: bigint) => [id, id] as const
