import type { FlashMessage } from "../../html/FlashMessages.ts"
import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Renders the result of the last act, with the form that undoes it. */
export const flashBox = (
  { formToken, pathAndQuery, reader: { words: { say } } }: Visit,
  flash: FlashMessage | undefined
): Html =>
  flash === undefined ? html`` : html`<div class="done"><p>${flash.notice}</p>${
    flash.undo === undefined
      ? ""
      : html`<form method="post" action="${flash.undo.path}">${tokenInput(formToken)}${hidden("return", pathAndQuery)}${
        Object.entries(flash.undo.fields ?? {}).map(([name, value]) => hidden(name, value))
      }<button type="submit" name="act" value="${flash.undo.act}">${say("Undo")}</button></form>`
  }</div>`
