import { Effect, Redacted, Schema } from "effect"
import { canonical } from "../../services/languages/Negotiation.ts"
import { type TranslationBackend, TranslatorFailed } from "../../services/translation/Translator.ts"
import type { TranslationSettings } from "../environment/TranslationSettings.ts"
import * as Asking from "./Asking.ts"

const Languages = Schema.Array(Schema.Struct({ language: Schema.String }))
const Translated = Schema.Struct({ detectedSourceLanguage: Schema.String, text: Schema.String }).pipe(
  Schema.encodeKeys({ detectedSourceLanguage: "detected_source_language" })
)
const Translations = Schema.Struct({ translations: Schema.Array(Translated) })

/** Targets that DeepL accepts but no longer lists, since it lists them by country. */
const unlistedTargets = ["en", "pt"]

/** Normalises a code such as `PT-BR` to BCP 47. */
const normal = (code: string): string => canonical(code) ?? code.toLowerCase()

/** Client of DeepL's API. */
export const make = Effect.fnUntraced(function*({ key, url }: TranslationSettings) {
  const secret = key === undefined ? "" : Redacted.value(key)
  const { get, post } = yield* Asking.make(url, { authorization: `DeepL-Auth-Key ${secret}` })
  const known = (type: "source" | "target") =>
    Effect.map(get(`/v2/languages?type=${type}`, Languages), (all) => all.map(({ language }) => normal(language)))
  const backend: TranslationBackend = {
    provider: "DeepL.com",
    languages: Effect.map(Effect.all([known("source"), known("target")]), ([sources, listed]) => {
      const targets = [...new Set([...unlistedTargets, ...listed])]
      return new Map(
        ["und", ...sources].map((source) => [source, targets.filter((target) => target !== source)] as const)
      )
    }),
    translate: Effect.fnUntraced(function*(texts, source, target) {
      const { translations } = yield* post("/v2/translate", {
        text: texts,
        targetLang: target.toUpperCase(),
        tagHandling: "html",
        ...(source !== undefined && { sourceLang: source.toUpperCase() })
      }, Translations)
      if (translations.length !== texts.length) {
        return yield* new TranslatorFailed({ reason: "broken", why: "not the requested texts" })
      }
      return translations.map(({ detectedSourceLanguage, text }) => ({ text, source: normal(detectedSourceLanguage) }))
    })
  }
  return backend
})
