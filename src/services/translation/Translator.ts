import { Context, type Effect, Schema } from "effect"

/** Why the service did not translate: its month is used up, it is asked too often, or it does not work. */
export class TranslatorFailed extends Schema.TaggedError<TranslatorFailed>()("TranslatorFailed", {
  reason: Schema.Literals(["quota", "busy", "broken"]),
  /** In words, for the log. */
  why: Schema.String
}) {}

/** A text in another language. */
export const TranslatedText = Schema.Struct({
  text: Schema.String,
  /** The language that it was written in, as the service has it. */
  source: Schema.String
})
export type TranslatedText = typeof TranslatedText.Type

/** What a source language can be translated into; "und" is the source of which nobody knows. */
export type LanguageMatrix = ReadonlyMap<string, ReadonlyArray<string>>

/** A translation service: a port that `layers` supply. */
export interface TranslationBackend {
  /** As people know it. */
  readonly provider: string
  readonly languages: Effect.Effect<LanguageMatrix, TranslatorFailed>
  /** HTML texts in their order; `source` is undefined where it is to be found out. */
  readonly translate: (
    texts: ReadonlyArray<string>,
    source: string | undefined,
    target: string
  ) => Effect.Effect<ReadonlyArray<TranslatedText>, TranslatorFailed>
}

/** The translation service that the operator chose; undefined where there is none. */
export class Translator
  extends Context.Service<Translator, TranslationBackend | undefined>()("murmuration/services/translation/Translator")
{}
