import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../Broadcast.ts"
import { type Unprocessable, validationFailed } from "../Errors.ts"
import { sanitise } from "../html/Sanitise.ts"
import { momentOf } from "../Moments.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { isLanguageTag } from "./Languages.ts"

/** Names under which the table of settings keeps what the server says about itself. */
export const settings = {
  title: "site_title",
  description: "site_short_description",
  extendedDescription: "site_extended_description",
  privacyPolicy: "site_privacy_policy",
  termsOfService: "site_terms_of_service",
  contactEmail: "contact_email",
  contactAccount: "contact_account",
  languages: "site_languages"
} as const

/** Characters of a text of one line, and bytes of a document as it is stored. */
const titleCharactersMax = 100
const descriptionCharactersMax = 500
const documentBytesMax = 200_000
/** Languages that the server says its people speak, and characters of a tag (BCP 47). */
const instanceLanguagesMax = 20

/** Terms of service; `since` is the day from which they hold, `2026-01-31`. */
export const Terms = Schema.Struct({ html: Schema.String, since: Schema.String })

/** What an operator changes; what is absent stays, an empty value takes the setting away. Documents are plain text or HTML. */
export interface InstanceChange {
  readonly title?: string
  readonly description?: string
  readonly extendedDescription?: string
  readonly privacyPolicy?: string
  readonly termsOfService?: { readonly text: string; readonly since: string }
  /** An address that was checked. */
  readonly contactEmail?: string
  /** The name of an account that is here. */
  readonly contactAccount?: string
  readonly languages?: ReadonlyArray<string>
}

/** Writes what the server says about itself; every node hears of it. `Instance` reads it. */
export class InstanceSettings extends Context.Service<InstanceSettings, {
  readonly change: (change: InstanceChange) => Effect.Effect<void, Unprocessable>
}>()("murmuration/services/instance/InstanceSettings") {
  static readonly layer = Layer.effect(
    InstanceSettings,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast

      const change = traced("InstanceSettings.change")(function*(given: InstanceChange) {
        const values = yield* valuesOf(given)
        const at = new Date(yield* Clock.currentTimeMillis)
        const write = Effect.forEach(values, ([name, value]) =>
          value === undefined
            ? sql`DELETE FROM settings WHERE name = ${name}`
            : sql`INSERT INTO settings (name, value, updated_at) VALUES (${name}, ${
              JSON.stringify(value)
            }::jsonb, ${at})
              ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`)
        yield* Effect.orDie(transaction(sql)(write))
        yield* broadcast.publish({ _tag: "Changed", kind: "instance", ids: [] })
      })
      return InstanceSettings.of({ change })
    })
  )
}

type Value = string | ReadonlyArray<string> | typeof Terms.Type

/** The rows that a change writes; undefined takes one away. */
const valuesOf = Effect.fnUntraced(function*(given: InstanceChange) {
  const rows: Array<readonly [name: string, value: Value | undefined]> = []
  const lines = [["title", "Title", titleCharactersMax], [
    "description",
    "Description",
    descriptionCharactersMax
  ]] as const
  for (const [key, name, charactersMax] of lines) {
    const text = given[key]?.trim().replace(/\s+/g, " ")
    if (text === undefined) continue
    if (Array.from(text).length > charactersMax) {
      return yield* validationFailed(`${name} is too long (maximum is ${charactersMax} characters)`)
    }
    rows.push([settings[key], text || undefined])
  }
  for (const key of ["extendedDescription", "privacyPolicy"] as const) {
    const text = given[key]
    if (text !== undefined) rows.push([settings[key], (yield* documentOf(text)) || undefined])
  }
  if (given.termsOfService !== undefined) {
    const { since, text } = given.termsOfService
    const html = yield* documentOf(text)
    if (!isDay(since)) return yield* validationFailed("Effective date is no day such as 2026-01-31")
    rows.push([settings.termsOfService, html === "" ? undefined : { html, since }])
  }
  for (const key of ["contactEmail", "contactAccount"] as const) {
    const text = given[key]
    if (text !== undefined) rows.push([settings[key], text || undefined])
  }
  if (given.languages !== undefined) {
    const tags = [...new Set(given.languages)]
    const wrong = tags.find((tag) => !isLanguageTag(tag))
    if (wrong !== undefined) return yield* validationFailed(`Languages ${wrong} is not a language tag`)
    if (tags.length > instanceLanguagesMax) return yield* validationFailed("Languages are too many")
    rows.push([settings.languages, tags.length === 0 ? undefined : tags])
  }
  return rows
})

const isDay = (text: string) =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && new Date(momentOf(text) ?? 0).toISOString().startsWith(text)

/** What makes a text HTML: elements that documents are made of. */
const markup = /<\/?(?:p|h[1-6]|[uo]l|li|br|a|b|i|em|strong|blockquote|pre|code|div|section|article|span)\b[^>]*>/i

/** A document as it is kept: HTML of ours, or of plain text its paragraphs, which empty lines part. */
const documentOf = Effect.fnUntraced(function*(text: string) {
  const written = text.replaceAll("\0", "").trim()
  const html = sanitise(
    markup.test(written)
      ? written
      : written.split(/\n\s*\n/).filter((part) => part.trim() !== "").map((part) =>
        `<p>${part.trim().replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>")}</p>`
      ).join("")
  )
  return new TextEncoder().encode(html).length > documentBytesMax
    ? yield* validationFailed(`The document is too long (maximum is ${documentBytesMax} bytes)`)
    : html
})
