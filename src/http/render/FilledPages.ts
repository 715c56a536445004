import { Effect } from "effect"
import type { Page } from "../../services/Paging.ts"

/** How often, and how many rows, are read further for a page of which filters left something out; then its cursor goes on. */
const furtherReadsMax = 5
const furtherRows = 40

/** What was read for a page, of which cursors are made, and those of it that may be shown. */
interface Rows<Row> {
  readonly read: ReadonlyArray<Row>
  readonly wanted: ReadonlyArray<Row>
}

/**
 * A page that is filled up where the viewer's filters left something out, so that it neither ends a list early nor comes
 * empty where more follows (S-128). Where they leave nothing out it is read and shown once. `show` leaves out what they do.
 */
export const filled = Effect.fnUntraced(function*<Row, Item, E, R>(options: {
  readonly page: Page
  readonly hides: Effect.Effect<boolean>
  /** Those of the rows that the filters leave. */
  readonly unhidden: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Row>, E, R>
  /** The ids of the oldest and the newest that a row stands for. */
  readonly ends: (row: Row) => readonly [oldest: bigint, newest: bigint]
  readonly read: (page: Page) => Effect.Effect<Rows<Row>, E, R>
  readonly show: (wanted: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Item>, E, R>
}): Effect.fn.Return<{ readonly read: ReadonlyArray<Row>; readonly items: ReadonlyArray<Item> }, E, R> {
  const { ends, page, show } = options
  const first = yield* options.read(page)
  const items = yield* show(first.wanted)
  // Whatever else left something out, filters did only where there are some that do.
  if (items.length === first.wanted.length || !(yield* options.hides)) return { read: first.read, items }
  const inOrder = <A>(rows: ReadonlyArray<A>) => page.minId === undefined ? rows : rows.toReversed()
  const [read, kept]: [Array<Row>, Array<Row>] = [[], []]
  const take = Effect.fnUntraced(function*(rows: Rows<Row>) {
    const left = new Set(yield* options.unhidden(rows.wanted))
    for (const row of inOrder(rows.read)) {
      if (kept.length >= page.limit) return
      read.push(row)
      if (left.has(row)) kept.push(row)
    }
  })
  yield* take(first)
  let full = first.read.length >= page.limit
  for (let more = 0; full && kept.length < page.limit && more < furtherReadsMax; more++) {
    const further = yield* options.read({ ...page, ...beyond(page, read.map(ends)), limit: furtherRows })
    full = further.read.length >= furtherRows
    yield* take(further)
  }
  return { read: inOrder(read), items: yield* show(inOrder(kept)) }
})

/** Where the page goes on beyond what was read. */
const beyond = (page: Page, read: ReadonlyArray<readonly [oldest: bigint, newest: bigint]>) =>
  page.minId === undefined
    ? { maxId: read.reduce((low, [oldest]) => oldest < low ? oldest : low, read[0]?.[0] ?? 0n) }
    : { minId: read.reduce((high, [, newest]) => newest > high ? newest : high, 0n) }

/** Rows all of which may be shown. */
export const whole = <Row>(rows: ReadonlyArray<Row>): Rows<Row> => ({ read: rows, wanted: rows })

/** The ends of a row that is one entry. */
export const alone = (id: bigint) => [id, id] as const
