import { Schema } from "effect"
import { hash, Integer, Text } from "../Params.ts"

const text = Schema.optionalKey(Schema.NullOr(Text))

/**
 * What is said of a rule; `position` is its place in the list, which begins with 1. A translation stands under the tag of its
 * language, as a rule is shown; one without a text is taken away.
 */
export const RuleWrite = Schema.Struct({
  text,
  hint: text,
  position: Schema.optionalKey(Integer),
  translations: Schema.optionalKey(hash(Schema.Record(Schema.String, hash(Schema.Struct({ text, hint: text })))))
})
export type RuleWrite = typeof RuleWrite.Type
