import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Id of the form to which the check boxes of a page's rows belong. */
const bulkId = "bulk"

/** Renders the form that acts on all selected rows of the page; `acts` are the buttons' values and labels. */
export const bulkForm = (
  { formToken, pathAndQuery }: Visit,
  action: string,
  acts: ReadonlyArray<readonly [act: string, label: string]>
): Html =>
  html`<form method="post" action="${action}" id="${bulkId}" class="tools">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }${
    acts.map(([act, label]) =>
      html`<button type="submit" name="act" value="${act}" class="plain small">${label}</button>`
    )
  }</form>`

/** Renders the check box of a row; `label` names the row. */
export const bulkMark = (id: string, label: string): Html =>
  html`<label><input type="checkbox" name="id[]" value="${id}" form="${bulkId}"><span class="unseen">${label}</span></label>`
