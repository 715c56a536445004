import type { FlashMessage } from "../../html/FlashMessages.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Renders the result of the last act, with the form that undoes it. */
export const flashBox = (
  { formToken, here, reader: { words: { say } } }: Visit,
  told: FlashMessage | undefined
): Html =>
  told === undefined ? html`` : html`<div class="done"><p>${told.notice}</p>${
    told.undo === undefined
      ? ""
      : html`<form method="post" action="${told.undo.path}">${tokenInput(formToken)}${hidden("return", here)}${
        Object.entries(told.undo.fields ?? {}).map(([name, value]) => hidden(name, value))
      }<button type="submit" name="act" value="${told.undo.act}">${say("Undo")}</button></form>`
  }</div>`
