import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"

/** A language of posts; `name` is in English. */
interface Language {
  readonly code: string
  readonly name: string
}

/** Maximum characters of a language tag, as RFC 5646 section 4.4.1 recommends. */
const languageTagCharactersMax = 35

const tag = /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i

/** Formats a subtag by RFC 5646 section 2.1.1: `Hant`, `BR`, otherwise lower case. */
const subtag = (text: string): string =>
  /^[a-z]{4}$/i.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1).toLowerCase()
    : /^[a-z]{2}$/i.test(text)
    ? text.toUpperCase()
    : text.toLowerCase()

/** Normalises a language tag (BCP 47): `pt_br` becomes `pt-BR`. Undefined for an invalid or overlong tag. */
export const languageTag = (text: string): string | undefined => {
  const written = text.replaceAll("_", "-")
  if (written.length > languageTagCharactersMax || !tag.test(written)) return undefined
  const [first = "", ...others] = written.split("-")
  return [first.toLowerCase(), ...others.map(subtag)].join("-")
}

/** Maximum languages in a request, more than there are to choose. */
export const languagesMax = 256

/**
 * Returns the language that a client names; null if it is absent or invalid. The account's default applies then, as in
 * Mastodon. An overlong text is refused.
 */
export const languageGiven = (text: string | null | undefined): Effect.Effect<string | null, Unprocessable> =>
  (text?.length ?? 0) > languageTagCharactersMax
    ? Effect.fail(validationFailed(`Language is too long (maximum is ${languageTagCharactersMax} characters)`))
    : Effect.succeed(languageTag(text ?? "") ?? null)

/** Returns the languages of a list without invalid ones; null if the list is absent. */
export const languagesGiven = Effect.fnUntraced(function*(texts: ReadonlyArray<string> | null | undefined) {
  if (texts === null || texts === undefined) return null
  if (texts.length > languagesMax) return yield* validationFailed(`Languages are too many (maximum is ${languagesMax})`)
  return (yield* Effect.forEach(texts, languageGiven)).filter((language) => language !== null)
})

/* ISO 639-1 without retired codes, some languages that only ISO 639-3 has, and regional variants of Chinese. */
const codes = (
  "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo " +
  "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg " +
  "ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn " +
  "no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta " +
  "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu " +
  "ast chr ckb cnr csb gsw jbo kab lad ldn lfn moh mul nan nds pdc sco sma smj szl tok vai xal yue zba zgh " +
  "zh-CN zh-HK zh-TW"
).split(" ")

/** English names that `Intl` lacks or spells differently. */
const names: Readonly<Record<string, string>> = {
  bh: "Bihari",
  cnr: "Montenegrin",
  ldn: "Láadan",
  mul: "Multiple languages",
  zba: "Balaibalan"
}

const english = new Intl.DisplayNames(["en"], { type: "language", languageDisplay: "standard" })

/** Languages that clients may offer (S-161). */
export const languages: ReadonlyArray<Language> = codes.map((code) => ({
  code,
  name: names[code] ?? english.of(code) ?? code
}))
