import { parseId } from "../../../services/database/Ids.ts"
import type { Page } from "../../../services/database/Paging.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Returns the page of a list that the visit's `max_id` or `min_id` asks for. */
export const pageOf = ({ query }: Pick<Visit, "query">, rows: number): Page => ({
  maxId: parseId(query.get("max_id")),
  minId: parseId(query.get("min_id")),
  sinceId: undefined,
  limit: rows
})

/** Renders links to newer and older entries; `cursors` are those of the page's rows, newest first. */
export const pagingLinks = (
  visit: Pick<Visit, "reader" | "path" | "query">,
  page: Page,
  cursors: ReadonlyArray<bigint>
): Html => {
  const { reader: { way, words: { say } }, path, query } = visit
  const at = (name: string, id: bigint) => {
    const parameters = new URLSearchParams([...query].filter(([key]) => !["max_id", "min_id", "lang"].includes(key)))
    parameters.set(name, String(id))
    return way(`${path}?${parameters}`)
  }
  const [first, last] = [cursors[0], cursors.at(-1)]
  const isFirst = page.maxId === undefined && page.minId === undefined
  const newer = first !== undefined && !isFirst
    ? html`<a href="${at("min_id", first)}" rel="prev">${say("Newer")}</a>`
    : ""
  const older = last !== undefined && (cursors.length >= page.limit || page.minId !== undefined)
    ? html`<a href="${at("max_id", last)}" rel="next">${say("Older")}</a>`
    : ""
  const top = isFirst ? "" : html`<a href="${way(path)}">${say("Newest")}</a>`
  return newer === "" && older === "" && top === ""
    ? html``
    : html`<nav class="paging" aria-label="${say("Pages")}">${top}${newer}${older}</nav>`
}
