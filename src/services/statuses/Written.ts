import { Record, Schema, String, Struct } from "effect"
import type { Columns } from "../Columns.ts"

/**
 * Texts of a status beside its text, "" where there is none. They are one with it: bounded together, read by filters, searches,
 * rules against spam and translators, full of emoji, and blank for who may not read it any more.
 */
const texts = {
  /** The content warning. */
  spoilerText: Schema.String
}
export const WrittenTexts = Schema.Struct(texts)
export type WrittenTexts = typeof WrittenTexts.Type

/** What else its author says of it; whoever knows of the status may know that, too. */
const facts = {
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String)
}
const WrittenFacts = Schema.Struct(facts)
export type WrittenFacts = typeof WrittenFacts.Type

/**
 * What an author says of a status beside its text, and everybody gets as it was said: clients send it and show it, servers
 * carry it, an edit changes it, a revision keeps it. The compiler names what else a new field takes.
 */
export const Written = Schema.Struct({ ...texts, ...facts })
export type Written = typeof Written.Type

/** Their columns in `statuses`; that of a later field is what its migration exports as `column`. */
export const columns = {
  spoilerText: "spoiler_text text NOT NULL DEFAULT ''",
  sensitive: "sensitive boolean NOT NULL DEFAULT false",
  language: "language text"
} as const satisfies Columns<Written>

export const textFields = Struct.keys(texts)
export const textColumns = textFields.map(String.camelToSnake)
/** What `make` gives for each text. */
export const textsBy = (make: (field: keyof WrittenTexts) => string): WrittenTexts =>
  Record.map(texts, (_, field) => make(field))
/** The texts of a value, in their order. */
export const textsOf = (of: WrittenTexts): ReadonlyArray<string> => textFields.map((field) => of[field])

export const writtenFields = Struct.keys(Written.fields)
/** What is `Written` of a value that has more. */
export const written: (of: Written) => Written = Struct.pick(writtenFields)
/** What is written where nobody says anything. */
export const unwritten: Written = { ...textsBy(() => ""), sensitive: false, language: null }
