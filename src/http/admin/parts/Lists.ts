import { Effect } from "effect"
import { listCountMax } from "../../../services/BoundedCounts.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import type { Page } from "../../../services/Paging.ts"
import { type Html, html } from "../../html/Html.ts"
import { idOf, type Visit } from "../Visit.ts"
import { form } from "./Controls.ts"

/** Rows of a list on a page. */
export const rowsMax = 40

const cursors = new Set(["max_id", "min_id", "since_id"])

/** The part of a list that the address asks for, with the API's cursors. */
export const pageOf = ({ query }: Visit): Page => ({
  maxId: idOf(query.get("max_id")),
  minId: idOf(query.get("min_id")),
  limit: rowsMax
})

/** The page's address with some of its query changed; empty texts are taken out. */
export const hereWith = ({ path, query }: Visit, changes: Readonly<Record<string, string>>): string => {
  const next = new URLSearchParams([...query].filter(([name, value]) => value !== "" && !cursors.has(name)))
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  return text === "" ? path : `${path}?${text}`
}

/** The ways to the rows above and below; `ids` are those of the page, from the newest. */
export const pager = (visit: Visit, ids: ReadonlyArray<bigint>): Html => {
  const { query, words: { say } } = visit
  const moved = query.has("max_id") || query.has("min_id")
  const [first, last] = [ids[0], ids.at(-1)]
  const newer = moved && first !== undefined
    ? html`<a href="${hereWith(visit, { ["min_id"]: String(first) })}" rel="prev">${say("← Newer")}</a>`
    : ""
  const older = last !== undefined && (ids.length >= rowsMax || query.has("min_id"))
    ? html`<a href="${hereWith(visit, { ["max_id"]: String(last) })}" rel="next">${say("Older →")}</a>`
    : ""
  const newest = moved ? html`<a href="${hereWith(visit, {})}">${say("Newest")}</a>` : ""
  return newer === "" && older === "" && newest === ""
    ? html``
    : html`<nav class="pager" aria-label="${say("Pages")}">${newest}${newer}${older}</nav>`
}

/** A table; cells are pieces of a page. On a telephone each row becomes a card. */
export const table = (
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Html | string>>,
  caption: string
): Html =>
  html`<table><caption class="spoken">${caption}</caption><thead><tr>${
    heads.map((head) => html`<th scope="col">${head}</th>`)
  }</tr></thead><tbody>${
    rows.map((cells) =>
      html`<tr>${cells.map((cell, at) => html`<td data-head="${heads[at] ?? ""}"><div>${cell}</div></td>`)}</tr>`
    )
  }</tbody></table>`

/** A number of rows as it is counted: "10,000+" where there are more. */
const countOf = ({ figure }: Messages, count: number): string =>
  count > listCountMax ? `${figure(listCountMax)}+` : figure(count)

/** How long the whole list is; nothing where it is empty, which is said otherwise. */
export const total = ({ words }: Visit, count: number): Html =>
  count === 0
    ? html``
    : html`<p class="total">${words.say("{total} in total", { total: countOf(words, count) })}</p>`

/** The same of a list in parts: it is counted where the page does not show all of it. */
export const totalOf = (visit: Visit, shown: number, counted: Effect.Effect<number>): Effect.Effect<Html> => {
  const whole = shown < rowsMax && ![...visit.query.keys()].some((name) => cursors.has(name))
  return Effect.map(whole ? Effect.succeed(shown) : counted, (count) => total(visit, count))
}

/** What stands where a list has no rows. */
export const nothing = (text: string): Html => html`<p class="empty">${text}</p>`

/** The box by which a row is chosen for a bulk act. */
export const choose = (id: bigint, label: string): Html => chooseOf("ids", id, label)

/** The same for rows of another kind in one form. */
export const chooseOf = (field: string, id: bigint, label: string): Html =>
  html`<input type="checkbox" name="${field}[]" value="${String(id)}" aria-label="${label}">`

/** A list whose rows are chosen by boxes, with the buttons of what is done to those. */
export const bulk = (visit: Visit, rows: Html, buttons: Html): Html =>
  form(
    visit,
    html`<div class="row bulk"><span class="soft">${visit.words.say("With selected:")}</span>${buttons}</div>${rows}`
  )

/** Filters in the address: a form that leads to the page itself, unfolded where something is filtered. The part of the list stays. */
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

/** A field of the filters: it holds what the address says. */
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

/** Ways to parts of a list, one of which is shown: links that say the number where there is one. */
export const tabs = (
  visit: Visit,
  name: string,
  choices: ReadonlyArray<readonly [value: string, label: string, count?: number]>
): Html =>
  html`<nav class="tabs" aria-label="${visit.words.say("Sections of the list")}">${
    choices.map(([value, label, count]) =>
      html`<a href="${hereWith(visit, { [name]: value })}"${
        (visit.query.get(name) ?? "") === value ? html` aria-current="true"` : ""
      }>${label}${count === undefined ? "" : html` <span class="soft">${countOf(visit.words, count)}</span>`}</a>`
    )
  }</nav>`
