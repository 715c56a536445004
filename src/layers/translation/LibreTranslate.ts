import { Effect, Redacted, Schema } from "effect"
import { type TranslationBackend, TranslatorFailed } from "../../services/translation/Translator.ts"
import type { TranslationSettings } from "../environment/TranslationSettings.ts"
import * as Asking from "./Asking.ts"

const Languages = Schema.Array(Schema.Struct({ code: Schema.String, targets: Schema.Array(Schema.String) }))
const Detected = Schema.Struct({ language: Schema.String })
const Translations = Schema.Struct({
  translatedText: Schema.Array(Schema.String),
  detectedLanguage: Schema.optionalKey(Schema.NullOr(Schema.Array(Detected)))
})

/** Client of LibreTranslate's API. */
export const make = Effect.fnUntraced(function*({ key, url }: TranslationSettings) {
  const { get, post } = yield* Asking.make(url, {})
  const backend: TranslationBackend = {
    provider: "LibreTranslate",
    languages: Effect.map(get("/languages", Languages), (languages) => {
      const all = new Set(languages.flatMap(({ targets }) => targets))
      return new Map([
        ...languages.map(({ code: source, targets }) =>
          [source, targets.filter((target) => target !== source)] as const
        ),
        ["und", [...all].toSorted()] as const
      ])
    }),
    translate: Effect.fnUntraced(function*(texts, source, target) {
      const { detectedLanguage, translatedText } = yield* post("/translate", {
        q: texts,
        source: source ?? "auto",
        target,
        format: "html",
        ...(key !== undefined && { apiKey: Redacted.value(key) })
      }, Translations)
      if (translatedText.length !== texts.length) {
        return yield* new TranslatorFailed({ reason: "broken", why: "not the requested texts" })
      }
      return translatedText.map((text, at) => ({ text, source: source ?? detectedLanguage?.[at]?.language ?? "und" }))
    })
  }
  return backend
})
