import { Effect } from "effect"
import type { Page } from "../../../../services/database/Paging.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Visit } from "../StaffVisit.ts"
import { bulk, emptyList, pageOf, pager, rowCheckbox, table, total, totalOf } from "./Tables.ts"

/** A list of rows on a staff page. */
interface RowList<Row> {
  readonly caption: string
  /** Text in place of an empty list. */
  readonly empty: string
  readonly headings: ReadonlyArray<string>
  readonly cells: (row: Row) => ReadonlyArray<Html | string>
  /** Checkboxes for bulk actions, labelled by the name of the row, and the buttons of the actions. */
  readonly selected?: { readonly name: (row: Row) => string; readonly buttons: Html }
}

interface HasId {
  readonly id: bigint
}

/** Returns rows as a table, in a form if rows can be selected; or the text of an empty list. */
const rowTable = <Row extends HasId>(
  visit: Visit,
  rows: ReadonlyArray<Row>,
  { caption, cells, empty, headings, selected }: RowList<Row>
): Html => {
  if (rows.length === 0) return emptyList(empty)
  const { words: { say } } = visit
  return selected === undefined ? table(headings, rows.map(cells), caption) : bulk(
    visit,
    table(
      [say("Selected"), ...headings],
      rows.map((row) => [rowCheckbox(row.id, say("Select {name}", { name: selected.name(row) })), ...cells(row)]),
      caption
    ),
    selected.buttons
  )
}

/** Returns a list that fits on one page, with its total. */
export const wholeList = <Row extends HasId>(visit: Visit, rows: ReadonlyArray<Row>, list: RowList<Row>): Html =>
  html`${total(visit, rows.length)}${rowTable(visit, rows, list)}`

/** Reads the requested page of a list, and returns it with the list's total and links to other pages. */
export const pagedList = Effect.fnUntraced(function*<Row extends HasId>(
  visit: Visit,
  source: {
    readonly page: (page: Page) => Effect.Effect<ReadonlyArray<Row>>
    readonly total: Effect.Effect<number>
  },
  list: RowList<Row>
) {
  const rows = yield* source.page(pageOf(visit))
  const counted = yield* totalOf(visit, rows.length, source.total)
  return html`${counted}${rowTable(visit, rows, list)}${pager(visit, rows.map(({ id }) => id))}`
})
