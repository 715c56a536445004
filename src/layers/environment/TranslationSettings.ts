import { Redacted } from "effect"
import { withoutTrailingSlashes } from "./TrailingSlashes.ts"
import type { Values } from "./variables.ts"

/** A translation service, and the credentials for it. */
export interface TranslationSettings {
  readonly kind: "libretranslate" | "deepl"
  /** Without a trailing slash. */
  readonly url: string
  readonly key: Redacted.Redacted<string> | undefined
}

/** Returns an error for each missing variable of the translation service, if any is set. */
export const missingForTranslation = (values: Values): ReadonlyArray<string> => {
  const { TRANSLATION_KEY: key, TRANSLATION_KIND: kind, TRANSLATION_URL: url } = values
  if (kind === "deepl") {
    return key === undefined ? ["TRANSLATION_KEY: DeepL (TRANSLATION_KIND) translates for those with a key."] : []
  }
  return url === undefined && (key !== undefined || kind !== undefined)
    ? ["TRANSLATION_URL: a translation service (TRANSLATION_... is set) needs it."]
    : []
}

/** Returns the configured service; undefined if posts are not translated. */
export const translationSettings = (values: Values): TranslationSettings | undefined => {
  const { TRANSLATION_KEY: key, TRANSLATION_KIND: kind = "libretranslate", TRANSLATION_URL: given } = values
  const url = given && withoutTrailingSlashes(given.href)
  if (kind === "libretranslate") return url === undefined ? undefined : { kind, url, key }
  // The key's suffix says which of DeepL's two API hosts it belongs to.
  const own = key !== undefined && Redacted.value(key).endsWith(":fx") ? "api-free.deepl.com" : "api.deepl.com"
  return key === undefined ? undefined : { kind, url: url ?? `https://${own}`, key }
}
