/** Maximum languages of a header, and maximum characters of it; the rest is ignored. */
const rangesMax = 20
const charactersMax = 1_000

/** Canonicalises a language tag written by people or systems: `de_DE.UTF-8` becomes `de-DE`; undefined if invalid. */
export const canonical = (written: string): string | undefined => {
  const tag = written.slice(0, charactersMax).trim().replace(/[.@].*$/s, "").replaceAll("_", "-")
  if (tag.length > languageCharactersMax || !/^[a-z]{2,3}(?:-|$)/i.test(tag)) return undefined
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** Maximum characters of a language tag (BCP 47, 4.4.1). */
const languageCharactersMax = 35

/** Returns the language with its script, by default the likely one. */
const languageAndScript = (tag: string): string => {
  const { language, script } = new Intl.Locale(tag).maximize()
  return `${language}-${script}`
}

/** Returns the languages of an `Accept-Language` header, preferred first (RFC 9110, 12.5.4). */
const ranges = (header: string): ReadonlyArray<string> =>
  header.slice(0, charactersMax).split(",").slice(0, rangesMax).flatMap((part) => {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
    const quality = weight === undefined ? 1 : Number.parseFloat(weight)
    const tag = canonical(range)
    return tag === undefined || !(quality > 0) ? [] : [{ tag, quality }]
  }).toSorted((a, b) => b.quality - a.quality).map(({ tag }) => tag)

/** Language preferences: of the request, of the account and of the browser. */
export interface LanguagePreferences {
  readonly lang?: string | undefined
  readonly locale?: string | undefined
  readonly header?: string | undefined
}

const tagsOf = ({ header, lang, locale }: LanguagePreferences): ReadonlyArray<string> => [
  ...[lang, locale].flatMap((written) => canonical(written ?? "") ?? []),
  ...ranges(header ?? "")
]

/** Returns the preferred languages in order, each followed by its base language. */
export const preferredLanguages = (wishes: LanguagePreferences): ReadonlyArray<string> => [
  ...new Set(tagsOf(wishes).flatMap((tag) => [tag, tag.split("-", 1).join("")]))
]

/**
 * Returns the best available language: the requested `lang` first, then `locale`, then those of the header; an exact
 * tag before one of the same language and script. Chinese in the other script never matches. Undefined without a match.
 */
export const preferred = (available: Iterable<string>, wishes: LanguagePreferences): string | undefined => {
  const tags = [...available]
  for (const wanted of tagsOf(wishes)) {
    const found = tags.find((tag) => tag === wanted) ??
      tags.find((tag) => languageAndScript(tag) === languageAndScript(wanted))
    if (found !== undefined) return found
  }
  return undefined
}
