import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Renders a form that searches by `q`; the label is for screen readers and the empty field. */
export const searchForm = (
  { query, reader: { words: { say } } }: Visit,
  path: string,
  label: string,
  more: Html = html``
): Html => {
  const lang = query.get("lang")
  return html`<form action="${path}" role="search" class="bar-form"><label><span class="unseen">${label}</span><input type="search" name="q" value="${
    query.get("q") ?? ""
  }" placeholder="${label}" maxlength="500" required></label>${
    lang === null ? "" : hidden("lang", lang)
  }${more}<button type="submit">${say("Search")}</button></form>`
}
