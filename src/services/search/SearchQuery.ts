import { normalise } from "../html/HashtagNames.ts"
import { type CalendarDate, calendarDateOf } from "../runtime/Moments.ts"
import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { type SearchPart, searchParts } from "./SearchText.ts"

/** Maximum characters of a query; the rest is ignored. */
export const queryCharactersMax = 500
/**
 * Maximum terms and operators of a query, each of which costs a search, and maximum parts of a phrase; the rest is
 * ignored.
 */
const queryTermsMax = 10
const operatorsMax = 20
const phrasePartsMax = 20

/** Values of `has:` and `is:`, which mean the same. */
const properties = [
  "media",
  "image",
  "video",
  "audio",
  "poll",
  "link",
  "embed",
  "reply",
  "sensitive",
  "quote"
] as const
type Property = typeof properties[number]
const isProperty = (text: string): text is Property => properties.some((property) => property === text)

/** A search term. */
export type Term =
  | { readonly kind: "part"; readonly part: SearchPart }
  | { readonly kind: "phrase"; readonly parts: ReadonlyArray<SearchPart> }
  | { readonly kind: "hashtag"; readonly name: string }

/** A time as people write it: a day, a month, a year, or milliseconds since 1970. */
export type Moment =
  | { readonly kind: "date"; readonly date: CalendarDate }
  | { readonly kind: "millis"; readonly millis: number }

type Operator =
  | { readonly kind: "property"; readonly property: Property }
  | { readonly kind: "language"; readonly language: string }
  | { readonly kind: "from"; readonly handle: string }
  | { readonly kind: "before" | "after" | "during"; readonly moment: Moment }
  | { readonly kind: "in"; readonly place: "all" | "library" | "public" }

/** Something required or, if `negated`, excluded. */
interface Criterion<A> {
  readonly value: A
  readonly negated: boolean
}

export interface SearchQuery {
  readonly terms: ReadonlyArray<Criterion<Term>>
  readonly operators: ReadonlyArray<Criterion<Operator>>
}

/** Matches `-`, then a phrase in quotes, or text up to the next space; quotes may follow a colon. */
const piece = /(-?)(?:["“”„«]([^"“”«»]*)["“”«»]?|([^\s:"“”„«]+:)["“”„«]([^"“”«»]*)["“”«»]?|(\S+))/gu
const operator = /^(has|is|language|lang|from|before|after|during|in):(.+)$/su

const momentOf = (text: string): Moment | undefined => {
  const date = calendarDateOf(text)
  if (date !== undefined) return { kind: "date", date }
  return /^\d{5,15}$/.test(text) ? { kind: "millis", millis: Number(text) } : undefined
}

/** Parses an operator's value; undefined if invalid. */
const operatorOf = (name: string, value: string): Operator | undefined => {
  switch (name) {
    case "has":
    case "is":
      return isProperty(value) ? { kind: "property", property: value } : undefined
    case "lang":
    case "language":
      return /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/.test(value) ? { kind: "language", language: value } : undefined
    case "from":
      return { kind: "from", handle: value }
    case "before":
    case "after":
    case "during": {
      const moment = momentOf(value)
      return moment === undefined ? undefined : { kind: name, moment }
    }
    case "in":
      return value === "all" || value === "library" || value === "public" ? { kind: "in", place: value } : undefined
    default:
      return undefined
  }
}

const termsOf = (text: BoundedText): ReadonlyArray<Term> => {
  const [, written = ""] = /^[#＃](.+)$/su.exec(text) ?? []
  const name = normalise(bounded(written))
  if (name !== "") return [{ kind: "hashtag", name }]
  return searchParts(text).map((part) => ({ kind: "part", part }))
}

const phraseOf = (text: BoundedText): ReadonlyArray<Term> => {
  const parts = searchParts(text).slice(0, phrasePartsMax)
  return parts.length === 0 ? [] : [{ kind: "phrase", parts }]
}

/**
 * Parses a search. Every text is a valid query: unknown operators and invalid values are words, an unclosed quote
 * extends to the end, and repeated terms count once. Takes time linear in the text that is read.
 */
export const readQuery = (text: string): SearchQuery => {
  const terms = new Map<string, Criterion<Term>>()
  const operators: Array<Criterion<Operator>> = []
  const add = (found: ReadonlyArray<Term>, negated: boolean) => {
    // A negated phrase excludes only the whole phrase.
    const joined: ReadonlyArray<Term> = negated && found.length > 1
      ? [{
        kind: "phrase",
        parts: found.flatMap((term) => term.kind === "part" ? [term.part] : []).slice(0, phrasePartsMax)
      }]
      : found
    for (const what of joined) {
      if (terms.size < queryTermsMax) terms.set(JSON.stringify([what, negated]), { value: what, negated })
    }
  }
  for (const [, minus, quoted, name, quotedValue, bare = ""] of text.slice(0, queryCharactersMax).matchAll(piece)) {
    const negated = minus === "-"
    if (quoted !== undefined) {
      add(phraseOf(bounded(quoted)), negated)
      continue
    }
    const whole = name === undefined ? bare : name + (quotedValue ?? "")
    const [, key = "", value = ""] = operator.exec(whole.toLowerCase()) ?? []
    const known = operatorOf(key, value.trim())
    if (known !== undefined && operators.length < operatorsMax) operators.push({ value: known, negated })
    else add(termsOf(bounded(whole)), negated)
  }
  return { terms: [...terms.values()], operators }
}
