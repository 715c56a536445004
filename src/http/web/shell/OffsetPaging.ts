import { type OffsetPage, offsetPageOf } from "../../../services/database/Paging.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Returns the page of a list by offset that the visit asks for; visitors get the first one only. */
export const offsetOf = ({ query, viewer }: Visit, rows: number): OffsetPage => {
  const asked = query.get("offset") ?? ""
  return offsetPageOf({ offset: viewer !== undefined && /^\d{1,6}$/.test(asked) ? Number(asked) : 0 }, rows)
}

/** Renders links to the pages before and after; `count` is the number of rows of this page. */
export const offsetLinks = (visit: Visit, { limit, offset }: OffsetPage, count: number): Html => {
  const { path, query, reader: { way, words: { say } } } = visit
  if (visit.viewer === undefined) return html``
  const at = (to: number) => {
    const parameters = new URLSearchParams([...query].filter(([key]) => !["offset", "lang"].includes(key)))
    if (to > 0) parameters.set("offset", String(to))
    return way(parameters.size === 0 ? path : `${path}?${parameters}`)
  }
  const before = offset > 0
    ? html`<a href="${at(Math.max(0, offset - limit))}" rel="prev">${say("Previous page")}</a>`
    : ""
  const after = count >= limit ? html`<a href="${at(offset + limit)}" rel="next">${say("Next page")}</a>` : ""
  return before === "" && after === ""
    ? html``
    : html`<nav class="paging" aria-label="${say("Pages")}">${before}${after}</nav>`
}
