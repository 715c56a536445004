import { Schema } from "effect"
import { hash, Integer, Text } from "../../wire/Params.ts"

const text = Schema.optionalKey(Schema.NullOr(Text))

/**
 * Fields of a rule to set; `position` is its place in the list, from 1. Translations are keyed by language tag, as in
 * the response; one without a text is removed.
 */
export const RuleWrite = Schema.Struct({
  text,
  hint: text,
  position: Schema.optionalKey(Integer),
  translations: Schema.optionalKey(hash(Schema.Record(Schema.String, hash(Schema.Struct({ text, hint: text })))))
})
export type RuleWrite = typeof RuleWrite.Type
