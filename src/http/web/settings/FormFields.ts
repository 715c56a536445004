import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import type { MemberVisit } from "../shell/Visit.ts"

interface TextOptions {
  readonly hint?: string
  readonly max?: number
  readonly type?: "text" | "number" | "search"
  readonly required?: boolean
}

const hintOf = (hint: string | undefined) => hint === undefined ? "" : html`<span class="hint">${hint}</span>`

/** Renders a line of text. */
export const textField = (name: string, label: string, value: string, options: TextOptions = {}): Html =>
  html`<label>${label}${hintOf(options.hint)}
<input type="${options.type ?? "text"}" name="${name}" value="${value}" dir="auto"${
    options.max === undefined ? "" : html` maxlength="${options.max}"`
  }${options.required === true ? html` required` : ""}></label>`

/** Renders a text of several lines. */
export const textArea = (
  name: string,
  label: string,
  value: string,
  options: TextOptions & { readonly rows: number }
) =>
  html`<label>${label}${hintOf(options.hint)}
<textarea name="${name}" rows="${options.rows}" dir="auto">
${value}</textarea></label>`

/** Renders a check box with its label. */
export const checkBox = (name: string, label: string, isOn: boolean, hint?: string, value = "1"): Html =>
  html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${
    isOn ? html` checked` : ""
  }><span>${label}${hintOf(hint)}</span></label>`

type Choices = ReadonlyArray<readonly [value: string, label: string]>

/** Renders a choice of one of several values. */
export const choice = (name: string, label: string, chosen: string, choices: Choices, hint?: string): Html =>
  html`<label>${label}${hintOf(hint)}
<select name="${name}">${
    choices.map(([value, text]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${text}</option>`
    )
  }</select></label>`

/** Renders a group of check boxes of one name. */
export const checkBoxes = (name: string, legend: string, chosen: ReadonlyArray<string>, choices: Choices): Html =>
  html`<fieldset><legend>${legend}</legend>${
    choices.map(([value, label]) => checkBox(`${name}[]`, label, chosen.includes(value), undefined, value))
  }</fieldset>`

interface FormOptions {
  readonly act: string
  readonly button: string
  readonly danger?: boolean
  /** True for an act beside the main one. */
  readonly plain?: boolean
  readonly files?: boolean
  /** Accessible name of the button, if its text alone is not clear. */
  readonly label?: string
}

/** Renders a form of a settings page with its button. */
export const form = (visit: MemberVisit, fields: Html, options: FormOptions): Html =>
  html`<form method="post" action="${actionOf(visit)}"${
    options.files === true ? html` enctype="multipart/form-data"` : ""
  }>${tokenInput(visit.formToken)}${
    hidden("return", visit.pathAndQuery)
  }${fields}<p class="row"><button type="submit" name="act" value="${options.act}"${
    options.danger === true ? html` class="danger"` : options.plain === true ? html` class="plain"` : ""
  }${options.label === undefined ? "" : html` aria-label="${options.label}"`}>${options.button}</button></p></form>`

/** Path that forms of a settings page are sent to. */
const actionOf = ({ path }: MemberVisit): string => `/web${path}`
