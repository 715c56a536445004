import { Effect } from "effect"
import { listCountMax } from "../../../../services/database/BoundedCounts.ts"
import type { Page } from "../../../../services/database/Paging.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"
import { type Html, html } from "../../../html/Html.ts"
import { idOf, type Visit } from "../StaffVisit.ts"
import { form } from "./Controls.ts"

/** Rows per page of a list. */
export const rowsMax = 40

const cursors = new Set(["max_id", "min_id", "since_id"])

/** Returns the page of a list from the query string, with the API's cursors. */
export const pageOf = ({ query }: Visit): Page => ({
  maxId: idOf(query.get("max_id")),
  minId: idOf(query.get("min_id")),
  limit: rowsMax
})

/** Returns the page's URL with a changed query and without cursors; empty values are removed. */
export const urlWith = ({ path, query }: Visit, changes: Readonly<Record<string, string>>): string => {
  const next = new URLSearchParams([...query].filter(([name, value]) => value !== "" && !cursors.has(name)))
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  return text === "" ? path : `${path}?${text}`
}

/** Links to newer and older rows; `ids` are those of the page, newest first. */
export const pager = (visit: Visit, ids: ReadonlyArray<bigint>): Html => {
  const { query, words: { say } } = visit
  const moved = query.has("max_id") || query.has("min_id")
  const [first, last] = [ids[0], ids.at(-1)]
  const newer = moved && first !== undefined
    ? html`<a href="${urlWith(visit, { ["min_id"]: String(first) })}" rel="prev">${say("← Newer")}</a>`
    : ""
  const older = last !== undefined && (ids.length >= rowsMax || query.has("min_id"))
    ? html`<a href="${urlWith(visit, { ["max_id"]: String(last) })}" rel="next">${say("Older →")}</a>`
    : ""
  const newest = moved ? html`<a href="${urlWith(visit, {})}">${say("Newest")}</a>` : ""
  return newer === "" && older === "" && newest === ""
    ? html``
    : html`<nav class="pager" aria-label="${say("Pages")}">${newest}${newer}${older}</nav>`
}

/** Returns a table; on phones each row becomes a card. */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Html | string>>,
  caption: string
): Html =>
  html`<table class="stacked"><caption class="spoken">${caption}</caption><thead><tr>${
    headings.map((head) => html`<th scope="col">${head}</th>`)
  }</tr></thead><tbody>${
    rows.map((cells) =>
      html`<tr>${cells.map((cell, at) => html`<td data-head="${headings[at] ?? ""}"><div>${cell}</div></td>`)}</tr>`
    )
  }</tbody></table>`

/** Formats a row count; beyond `listCountMax` as "10,000+". */
const countOf = ({ figure }: Messages, count: number): string =>
  count > listCountMax ? `${figure(listCountMax)}+` : figure(count)

/** Returns the total of a list; empty for an empty list, which has a text of its own. */
export const total = ({ words }: Visit, count: number): Html =>
  count === 0
    ? html``
    : html`<p class="total">${words.say("{total} in total", { total: countOf(words, count) })}</p>`

/** Returns the total of a paged list. Queries it only if this page does not show all rows. */
export const totalOf = (visit: Visit, shown: number, counted: Effect.Effect<number>): Effect.Effect<Html> => {
  const isOnlyPage = shown < rowsMax && ![...visit.query.keys()].some((name) => cursors.has(name))
  return Effect.map(isOnlyPage ? Effect.succeed(shown) : counted, (count) => total(visit, count))
}

/** Text in place of an empty list. */
export const emptyList = (text: string): Html => html`<p class="empty">${text}</p>`

/** Checkbox that selects a row for a bulk action. */
export const rowCheckbox = (id: bigint, label: string): Html => rowCheckboxFor("ids", id, label)

/** Checkbox for rows of another kind in the same form. */
export const rowCheckboxFor = (field: string, id: bigint, label: string): Html =>
  html`<input type="checkbox" name="${field}[]" value="${String(id)}" aria-label="${label}">`

/** List with checkboxes, and buttons for bulk actions. */
export const bulk = (visit: Visit, rows: Html, buttons: Html): Html =>
  form(
    visit,
    html`<div class="row bulk"><span class="soft">${visit.words.say("With selected:")}</span>${buttons}</div>${rows}`
  )

/** Filter form that reloads the page, open while a filter is set. It keeps the selected tab. */
export const filters = (visit: Visit, fields: Html, tab = "state"): Html => {
  const { path, query, words: { say } } = visit
  const filtered = [...query].some(([name, value]) => value !== "" && !cursors.has(name) && name !== tab)
  return html`<details class="filtering"${filtered ? html` open` : ""}><summary>${
    say("Filters")
  }</summary><form method="get" action="${path}" class="filters" role="search">${
    query.get(tab) ? html`<input type="hidden" name="${tab}" value="${query.get(tab)}">` : ""
  }${fields}<p class="row"><button type="submit" class="quiet">${say("Filter")}</button> <a href="${path}">${
    say("Show all")
  }</a></p></form></details>`
}

/** Text filter, filled from the query string. */
export const filterText = ({ query }: Visit, name: string, label: string): Html =>
  html`<label>${label}<input type="search" name="${name}" value="${query.get(name) ?? ""}"></label>`

export const filterSelect = (
  { query }: Visit,
  name: string,
  label: string,
  choices: ReadonlyArray<readonly [value: string, label: string]>
): Html =>
  html`<label>${label}<select name="${name}">${
    choices.map(([value, text]) =>
      html`<option value="${value}"${(query.get(name) ?? "") === value ? html` selected` : ""}>${text}</option>`
    )
  }</select></label>`

/** Tabs of a list, with counts where they are known. */
export const tabs = (
  visit: Visit,
  name: string,
  choices: ReadonlyArray<readonly [value: string, label: string, count?: number]>
): Html =>
  html`<nav class="tabs" aria-label="${visit.words.say("Sections of the list")}">${
    choices.map(([value, label, count]) =>
      html`<a href="${urlWith(visit, { [name]: value })}"${
        (visit.query.get(name) ?? "") === value ? html` aria-current="true"` : ""
      }>${label}${count === undefined ? "" : html` <span class="soft">${countOf(visit.words, count)}</span>`}</a>`
    )
  }</nav>`
