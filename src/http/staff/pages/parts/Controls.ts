import { hidden, tokenInput } from "../../../html/Forms.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Confirmation, View, Visit } from "../StaffVisit.ts"

/** Returns a form of this page, or of the page at `path`. */
export const form = (visit: Visit, content: Html, path: string = visit.pathAndQuery): Html =>
  html`<form method="post" action="${path}">${tokenInput(visit.formToken)}${content}</form>`

type Kind = "main" | "quiet" | "danger"

/** Returns a submit button for an action of the page. */
export const button = (act: string, label: string, kind: Kind = "quiet"): Html =>
  html`<button type="submit" name="act" value="${act}"${
    kind === "main" ? "" : html` class="${kind}"`
  }>${label}</button>`

/** Returns a form that is only a button. */
export const actButton = (
  visit: Visit,
  act: string,
  label: string,
  options: { readonly kind?: Kind; readonly path?: string; readonly fields?: Readonly<Record<string, string>> } = {}
): Html =>
  form(
    visit,
    html`${Object.entries(options.fields ?? {}).map(([name, value]) => hidden(name, value))}${
      button(act, label, options.kind)
    }`,
    options.path
  )

interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly required?: boolean
  /** Initial value; a refused form keeps what was sent. */
  readonly value?: string
}

/** Returns a field's value: the one that was refused, or else the initial value. */
const valueOf = (visit: Visit, { name, value = "" }: Field): string => visit.form.get(name) ?? value

const hintOf = (hint: string | undefined): Html => hint === undefined ? html`` : html`<span class="hint">${hint}</span>`
const requiredOf = (required: boolean | undefined): Html => required === true ? html` required` : html``

export const textField = (
  visit: Visit,
  field: Field & {
    readonly type?: "text" | "email" | "number" | "date" | "datetime-local" | "url" | "color"
    readonly max?: number
  }
): Html =>
  html`<label>${field.label}${hintOf(field.hint)}<input type="${field.type ?? "text"}" name="${field.name}" value="${
    valueOf(visit, field)
  }"${field.max === undefined ? "" : html` maxlength="${field.max}"`}${requiredOf(field.required)}></label>`

export const textArea = (visit: Visit, field: Field & { readonly rows?: number; readonly max?: number }): Html =>
  html`<label>${field.label}${hintOf(field.hint)}<textarea name="${field.name}" rows="${field.rows ?? 4}"${
    field.max === undefined ? "" : html` maxlength="${field.max}"`
  }${requiredOf(field.required)}>
${valueOf(visit, field)}</textarea></label>`

type Choices = ReadonlyArray<readonly [value: string, label: string]>

export const select = (visit: Visit, field: Field & { readonly choices: Choices }): Html => {
  const chosen = valueOf(visit, field)
  return html`<label>${field.label}${hintOf(field.hint)}<select name="${field.name}">${
    field.choices.map(([value, label]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${label}</option>`
    )
  }</select></label>`
}

/** Returns a checkbox, sent as `yes` by default. A refused form keeps its state. */
export const checkbox = (
  visit: Visit,
  field: Omit<Field, "value"> & { readonly checked?: boolean; readonly value?: string }
): Html => {
  const value = field.value ?? "yes"
  const sent = visit.form.has("act")
  const checked = sent ? visit.form.getAll(field.name.replace(/\[\]$/, "")).includes(value) : field.checked === true
  return html`<label class="check"><input type="checkbox" name="${field.name}" value="${value}"${
    checked ? html` checked` : ""
  }><span>${field.label}${hintOf(field.hint)}</span></label>`
}

/** Returns hidden fields that resend a form. A name with several values is sent as a list. */
const resentFields = ({ form }: Visit): ReadonlyArray<Html> =>
  [...form].filter(([name]) => name !== "act" && name !== "confirmed").map(([name, value]) =>
    hidden(form.getAll(name).length > 1 ? `${name}[]` : name, value)
  )

/** Page that asks for confirmation of an action. */
export const confirmationPage = (
  visit: Visit,
  act: string,
  { button: label, danger, text, title }: Confirmation
): View => ({
  title,
  body: html`<div class="ask">${typeof text === "string" ? html`<p>${text}</p>` : text}
${
    form(
      visit,
      html`${resentFields(visit)}${hidden("confirmed", "yes")}<p class="row">${
        button(act, label, danger === true ? "danger" : "main")
      } <a href="${visit.pathAndQuery}">${visit.words.say("Cancel")}</a></p>`
    )
  }</div>`
})
