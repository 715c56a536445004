import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { Visit } from "./Visit.ts"

/** Renders a form of an act that returns to the same page. */
export const actForm = ({ formToken, pathAndQuery }: Visit, action: string, content: Html, name = "acts"): Html =>
  html`<form method="post" action="${action}" class="${name}">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }${content}</form>`
