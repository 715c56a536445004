import { Effect } from "effect"
import { validationFailed } from "../runtime/Errors.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { documentOf } from "./DocumentHtml.ts"
import type { NewDocument } from "./InstanceDocuments.ts"
import { languageTag } from "./Languages.ts"
import { type RegistrationsMode, settings, type TimelinesAccess } from "./SettingNames.ts"
import { type BudgetKind, budgetKinds, storageBudgetBytesMax, type StorageBudgets } from "./StorageBudgets.ts"

/** Maximum characters of the title and of the description. */
export const titleCharactersMax = 100
const descriptionCharactersMax = 500
/** Maximum languages spoken on the server. */
const instanceLanguagesMax = 20
/** Maximum required age, in years. */
const minAgeYearsMax = 120

/**
 * Changes by staff; absent fields stay unchanged, and an empty value removes the setting. Documents are plain text or
 * HTML.
 */
export interface InstanceChange {
  readonly title?: string
  readonly description?: string
  readonly extendedDescription?: string
  readonly privacyPolicy?: NewDocument
  readonly termsOfService?: NewDocument
  /** A validated address. */
  readonly contactEmail?: string
  /** Username of an existing local account. */
  readonly contactAccount?: string
  readonly languages?: ReadonlyArray<string>
  /** Language of pages and e-mails for users whose own language is not available. */
  readonly defaultLanguage?: string
  /** Colour as `#rrggbb`. */
  readonly accentColor?: string
  readonly timelinesAccess?: TimelinesAccess
  readonly registrations?: (typeof RegistrationsMode)["Type"] | ""
  readonly registrationsMessage?: string
  readonly reasonRequired?: boolean
  readonly minAge?: number | null
  readonly autoClose?: boolean
  /** Budgets in bytes; absent kinds have no budget. */
  readonly storageBudgets?: StorageBudgets
}

type Value = string | number | boolean | ReadonlyArray<string> | TimelinesAccess | StorageBudgets

/** Returns the rows that a change writes to the table `settings`; undefined deletes a row. */
export const settingRowsOf = Effect.fnUntraced(function*(given: InstanceChange) {
  const rows: Array<readonly [name: string, value: Value | undefined]> = []
  const lines = [
    ["title", "Title", titleCharactersMax],
    ["description", "Description", descriptionCharactersMax]
  ] as const
  for (const [key, name, charactersMax] of lines) {
    const text = given[key]?.replaceAll("\0", "").trim().replace(/\s+/g, " ")
    if (text === undefined) continue
    if (hasMoreCharacters(text, charactersMax)) {
      return yield* validationFailed(`${name} is too long (maximum is ${charactersMax} characters)`)
    }
    rows.push([settings[key], text || undefined])
  }
  for (const key of ["extendedDescription", "registrationsMessage"] as const) {
    const text = given[key]
    if (text !== undefined) rows.push([settings[key], (yield* documentOf(text)) || undefined])
  }
  for (const key of ["contactEmail", "contactAccount"] as const) {
    const text = given[key]
    if (text !== undefined) rows.push([settings[key], text || undefined])
  }
  if (given.languages !== undefined) {
    const tags = [...new Set(given.languages.flatMap((tag) => languageTag(tag) ?? []))]
    const wrong = given.languages.find((tag) => languageTag(tag) === undefined)
    if (wrong !== undefined) return yield* validationFailed(`Languages ${wrong} is not a language tag`)
    if (tags.length > instanceLanguagesMax) return yield* validationFailed("Languages are too many")
    rows.push([settings.languages, tags.length === 0 ? undefined : tags])
  }
  if (given.defaultLanguage !== undefined) {
    const tag = languageTag(given.defaultLanguage)
    if (given.defaultLanguage !== "" && tag === undefined) {
      return yield* validationFailed(`Languages ${given.defaultLanguage} is not a language tag`)
    }
    rows.push([settings.defaultLanguage, tag])
  }
  if (given.accentColor !== undefined) {
    const color = given.accentColor.trim().toLowerCase()
    if (!/^(?:#[0-9a-f]{6})?$/.test(color)) return yield* validationFailed("Accent color is invalid")
    rows.push([settings.accentColor, color || undefined])
  }
  if (given.minAge !== undefined) {
    const years = given.minAge ?? 0
    if (years < 0 || years > minAgeYearsMax) {
      return yield* validationFailed(`Min age must be between 0 and ${minAgeYearsMax}`)
    }
    rows.push([settings.minAge, years === 0 ? undefined : years])
  }
  if (given.storageBudgets !== undefined) {
    const budgets: { [Kind in BudgetKind]?: number } = {}
    for (const kind of budgetKinds) {
      const bytes = given.storageBudgets[kind]
      if (bytes === undefined || bytes === 0) continue
      if (!Number.isSafeInteger(bytes) || bytes < 0 || bytes > storageBudgetBytesMax) {
        return yield* validationFailed("Storage budget is invalid")
      }
      budgets[kind] = bytes
    }
    rows.push([settings.storageBudgets, Object.keys(budgets).length === 0 ? undefined : budgets])
  }
  if (given.timelinesAccess !== undefined) rows.push([settings.timelinesAccess, given.timelinesAccess])
  if (given.registrations !== undefined) rows.push([settings.registrations, given.registrations || undefined])
  for (const key of ["reasonRequired", "autoClose"] as const) {
    const flag = given[key]
    if (flag !== undefined) rows.push([settings[key], flag || undefined])
  }
  return rows
})
