import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Renders links to sibling pages; the one that is open is marked. */
export const tabsOf = (
  { path, query, reader: { way } }: Visit,
  label: string,
  tabs: ReadonlyArray<readonly [to: string, label: string]>
): Html => {
  const isOpen = (to: string) => {
    const [of = "", asked = ""] = to.split("?")
    const fields = new URLSearchParams(asked)
    return of === path && (query.get("type") ?? "") === (fields.get("type") ?? "")
  }
  return html`<nav class="tabs" aria-label="${label}">${
    tabs.map(([to, text]) => html`<a href="${way(to)}"${isOpen(to) ? html` aria-current="page"` : ""}>${text}</a>\n`)
  }</nav>`
}
