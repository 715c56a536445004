import { Context, type Effect, Schema } from "effect"

/** Failure of the service: quota exceeded, rate limited or broken. */
export class TranslatorFailed extends Schema.TaggedError<TranslatorFailed>()("TranslatorFailed", {
  reason: Schema.Literals(["quota", "busy", "broken"]),
  /** Details for the log. */
  why: Schema.String
}) {}

/** A translated text. */
export const TranslatedText = Schema.Struct({
  text: Schema.String,
  /** Source language, as stated by the service. */
  source: Schema.String
})
export type TranslatedText = typeof TranslatedText.Type

/** Target languages by source language; "und" is an unknown source. */
export type LanguageMatrix = ReadonlyMap<string, ReadonlyArray<string>>

/** Port of a translation service; `layers` supply it. */
export interface TranslationBackend {
  /** Name for people. */
  readonly provider: string
  readonly languages: Effect.Effect<LanguageMatrix, TranslatorFailed>
  /** Translates HTML texts, in order; `source` is undefined to detect it. */
  readonly translate: (
    texts: ReadonlyArray<string>,
    source: string | undefined,
    target: string
  ) => Effect.Effect<ReadonlyArray<TranslatedText>, TranslatorFailed>
}

/** The configured translation service; undefined without one. */
export class Translator
  extends Context.Service<Translator, TranslationBackend | undefined>()("murmuration/services/translation/Translator")
{}
