import { Effect } from "effect"
import type { SettingKind, SettingKinds } from "../../../../services/instance/SettingKinds.ts"
import {
  type SettingKey,
  settingKeys,
  settings,
  type SettingValues
} from "../../../../services/instance/SettingTable.ts"
import { collectChanges } from "../../../../services/instance/SettingValues.ts"
import { type Unprocessable, validationFailed } from "../../../../services/runtime/Errors.ts"
import { hidden } from "../../../html/Forms.ts"
import { type Html, html } from "../../../html/Html.ts"
import { emailOf } from "../../SettingEmail.ts"
import type { Visit } from "../StaffVisit.ts"
import { checkbox, select, textArea, textField } from "./Controls.ts"

interface Labels {
  readonly name: string
  readonly label: string
  readonly hint?: string
}

interface FormCode<Kind extends SettingKind> {
  readonly control: (
    visit: Visit,
    labels: Labels,
    value: SettingKinds[Kind]["value"],
    setting: SettingKinds[Kind]["params"] & SettingKinds[Kind]["field"]
  ) => Html
  /** Reads the change from a submitted field. */
  readonly sent: (
    text: string,
    params: SettingKinds[Kind]["params"]
  ) => Effect.Effect<SettingKinds[Kind]["change"], Unprocessable>
}

/** Name of the field that tells that a form has a checkbox, because browsers do not send an unchecked one. */
const shownName = (name: string) => `${name}_shown`

const trimmed = (text: string) => Effect.succeed(text.trim())
const field = (visit: Visit, labels: Labels, value: string | null) =>
  textField(visit, { ...labels, value: value ?? "" })

/** Words in one line, separated by spaces. */
const words = {
  control: (visit: Visit, labels: Labels, given: ReadonlyArray<string>) =>
    textField(visit, { ...labels, value: given.join(" ") }),
  sent: (text: string) => Effect.succeed(text.split(/[\s,]+/).filter((word) => word !== ""))
}

/** Fields of each kind; undefined for kinds whose settings have forms of their own. */
const kinds: { readonly [Kind in SettingKind]: FormCode<Kind> | undefined } = {
  line: {
    control: (visit, labels, value, { charactersMax: max, rows }) =>
      rows === undefined
        ? textField(visit, { ...labels, value, max })
        : textArea(visit, { ...labels, value, rows, max }),
    sent: trimmed
  },
  document: {
    control: (visit, labels, document, { rows }) =>
      textArea(visit, { ...labels, value: document?.html ?? "", ...(rows !== undefined && { rows }) }),
    sent: Effect.succeed
  },
  email: {
    control: (visit, labels, value) => textField(visit, { ...labels, type: "email", value }),
    sent: emailOf
  },
  account: { control: field, sent: (text) => Effect.succeed(text.trim().replace(/^@/, "")) },
  language: { control: field, sent: trimmed },
  languages: words,
  agents: words,
  choice: {
    control: (visit, labels, value, { choices, options }) => {
      const named = choices(visit.words)
      return select(visit, {
        ...labels,
        value,
        choices: Object.keys(options).map((word) => [word, named[word] ?? word])
      })
    },
    sent: (text, { name, options }) =>
      Object.hasOwn(options, text)
        ? Effect.succeed(text)
        : Effect.fail(validationFailed(`${name} is not included in the list`))
  },
  flag: {
    control: (visit, labels, checked) =>
      html`${hidden(shownName(labels.name), "yes")}${checkbox(visit, { ...labels, checked })}`,
    sent: (text) => Effect.succeed(text === "yes")
  },
  count: {
    control: (visit, labels, value) => textField(visit, { ...labels, type: "number", value: String(value ?? "") }),
    sent: (text, { name }) => {
      const count = text.trim()
      return /^\d{0,6}$/.test(count)
        ? Effect.succeed(count === "" ? null : Number(count))
        : Effect.fail(validationFailed(`${name} is invalid`))
    }
  },
  color: undefined,
  access: undefined,
  budgets: undefined
}

type Section = NonNullable<typeof settings[SettingKey]["form"]>["section"]

const isLast = (key: SettingKey) => settings[key].form?.last === true

/** Returns the form fields of a section's settings. */
export const settingFields = (visit: Visit, section: Section, values: SettingValues): Html => {
  const control = <Key extends SettingKey>(key: Key): Html => {
    const { form, kind, params } = settings[key]
    const code = kinds[kind]
    if (form === undefined || code === undefined || form.section !== section) return html``
    const { hint, label, name } = form
    const labels = { name, label: label(visit.words), ...(hint !== undefined && { hint: hint(visit.words) }) }
    return code.control(visit, labels, values[key], { ...params, ...form })
  }
  return html`${[...settingKeys.filter((key) => !isLast(key)), ...settingKeys.filter(isLast)].map(control)}`
}

/**
 * Reads the changes of a section's settings from a submitted form. A setting whose field the form lacks stays unchanged:
 * the page may be older than the setting.
 */
export const sentSettings = ({ form: sent }: Visit, section: Section) =>
  collectChanges((key) => {
    const { form, kind, params } = settings[key]
    const code = kinds[kind]
    return form === undefined || code === undefined || form.section !== section ||
        !(sent.has(form.name) || sent.has(shownName(form.name)))
      ? Effect.undefined
      : code.sent(sent.get(form.name) ?? "", params)
  })
