import { Record, Schema, String, Struct } from "effect"
import type { Columns } from "../database/Columns.ts"

/**
 * Texts of a status besides its content, "" if empty. They are treated like it: bounded together, used by filters,
 * search, spam rules and translation, rendered with custom emoji, and blank where a status is redacted.
 */
const texts = {
  /** Content warning. */
  spoilerText: Schema.String
}
export const WrittenTexts = Schema.Struct(texts)
export type WrittenTexts = typeof WrittenTexts.Type

/** Other fields set by the author; visible wherever the status is known to exist. */
const facts = {
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String)
}
const WrittenFacts = Schema.Struct(facts)
export type WrittenFacts = typeof WrittenFacts.Type

/**
 * Fields that the author sets besides the content, the same for everyone: sent and shown by clients, federated, changed
 * by edits, stored in revisions. The compiler lists what else a new field needs.
 */
export const Written = Schema.Struct({ ...texts, ...facts })
export type Written = typeof Written.Type

/** Columns in `statuses`; a later field's migration exports its own as `column`. */
export const columns = {
  spoilerText: "spoiler_text text NOT NULL DEFAULT ''",
  sensitive: "sensitive boolean NOT NULL DEFAULT false",
  language: "language text"
} as const satisfies Columns<Written>

export const textFields = Struct.keys(texts)
export const textColumns = textFields.map(String.camelToSnake)
/** Returns the texts that `make` returns for each field. */
export const textsBy = (make: (field: keyof WrittenTexts) => string): WrittenTexts =>
  Record.map(texts, (_, field) => make(field))
/** Returns the texts of a value, in order. */
export const textsOf = (of: WrittenTexts): ReadonlyArray<string> => textFields.map((field) => of[field])

export const writtenFields = Struct.keys(Written.fields)
/** Picks the `Written` fields of a larger value. */
export const written: (of: Written) => Written = Struct.pick(writtenFields)
/** Defaults of all fields. */
export const writtenDefaults: Written = { ...textsBy(() => ""), sensitive: false, language: null }
