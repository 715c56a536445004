/** Languages of one header that are heeded, and characters of it. */
const rangesMax = 20
const charactersMax = 1_000

/** A tag as the platform writes it, from what people and systems write: `de_DE.UTF-8` is `de-DE`; undefined for what is none. */
export const canonical = (written: string): string | undefined => {
  const tag = written.slice(0, charactersMax).trim().replace(/[.@].*$/s, "").replaceAll("_", "-")
  if (tag.length > languageCharactersMax || !/^[a-z]{2,3}(?:-|$)/i.test(tag)) return undefined
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** Characters of a language's tag (BCP 47, 4.4.1). */
const languageCharactersMax = 35

/** The language and the script in which it is written, where the tag leaves the script to its readers. */
const writing = (tag: string): string => {
  const { language, script } = new Intl.Locale(tag).maximize()
  return `${language}-${script}`
}

/** The languages of an `Accept-Language` header, the wanted first (RFC 9110, 12.5.4). */
const ranges = (header: string): ReadonlyArray<string> =>
  header.slice(0, charactersMax).split(",").slice(0, rangesMax).flatMap((part) => {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim())
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2)
    const quality = weight === undefined ? 1 : Number.parseFloat(weight)
    const tag = canonical(range)
    return tag === undefined || !(quality > 0) ? [] : [{ tag, quality }]
  }).toSorted((a, b) => b.quality - a.quality).map(({ tag }) => tag)

/** In what language somebody wants to read: what they ask for now, what they set once, and what their browser says. */
export interface Wishes {
  readonly lang?: string | undefined
  readonly locale?: string | undefined
  readonly header?: string | undefined
}

const tagsOf = ({ header, lang, locale }: Wishes): ReadonlyArray<string> => [
  ...[lang, locale].flatMap((written) => canonical(written ?? "") ?? []),
  ...ranges(header ?? "")
]

/** The languages that somebody reads, the wanted first, each with the one that it is a form of. */
export const readBy = (wishes: Wishes): ReadonlyArray<string> => [
  ...new Set(tagsOf(wishes).flatMap((tag) => [tag, tag.split("-", 1).join("")]))
]

/**
 * Which of the languages that there are somebody reads best: the `lang` that was asked for, then their `locale`, then
 * those of the header; the exact tag before another one of the same language and script. Chinese in the script that is
 * not theirs is no answer to anybody. Undefined where there is none.
 */
export const preferred = (available: Iterable<string>, wishes: Wishes): string | undefined => {
  const tags = [...available]
  for (const wanted of tagsOf(wishes)) {
    const found = tags.find((tag) => tag === wanted) ?? tags.find((tag) => writing(tag) === writing(wanted))
    if (found !== undefined) return found
  }
  return undefined
}
