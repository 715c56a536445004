import type { SearchQuery, Term } from "./SearchQuery.ts"
import { pairsOf, type PlacedToken, type SearchPart, tokensOf } from "./SearchText.ts"
import { languagesOfWord } from "./Stemmers.ts"
import type { LanguageWord, Stems } from "./Stems.ts"

/*
 * Tokens of posts, and queries over them as Postgres `tsquery` texts. Words consist of letters only, so all other
 * tokens start with or contain a sign.
 */

export const authorToken = (id: bigint): string => `@${id}`
export const mentionToken = (id: bigint): string => `~${id}`
export const hashtagToken = (name: string): string => `#${name}`
export const propertyToken = (property: string): string => `+${property}`
export const languageToken = (language: string): string => `=${language}`
export const stemToken = (language: string, stem: string): string => `${language}/${stem}`
/** Token of posts that everyone who may see them may find. */
export const publicToken = "*public"
/**
 * Returns the prefix token of a word, for languages without a stemmer: inflections change the end. Undefined for short
 * words, and for words with digits.
 */
export const prefixToken = (word: string): string | undefined => {
  const letters = word.length < beginningWordMin || /\p{N}/u.test(word)
    ? ""
    : word.slice(0, Math.min(beginningLettersMax, word.length - 1))
  return letters === "" ? undefined : `-/${letters.toWellFormed()}`
}

/** Minimum letters of a word with a prefix token, and maximum letters of the prefix. */
const [beginningWordMin, beginningLettersMax] = [4, 5]

/** Quotes a lexeme for a `tsquery` or `tsvector` text. */
export const quoted = (token: string): string => `'${token.replace(/['\\]/g, "$&$&")}'`

export const anyOf = (queries: ReadonlyArray<string>): string =>
  queries.length === 1 ? queries.join("") : `(${[...new Set(queries)].join(" | ")})`
export const allOf = (queries: ReadonlyArray<string>): string =>
  queries.length === 1 ? queries.join("") : `(${queries.join(" & ")})`
const inOrder = (tokens: ReadonlyArray<PlacedToken>): string =>
  `(${
    tokens.map(({ offset, token }, index) => {
      const before = tokens[index - 1]
      return before === undefined ? quoted(token) : ` <${offset - before.offset}> ${quoted(token)}`
    }).join("")
  })`

const lettersQuery = (letters: ReadonlyArray<string>): string =>
  letters.length === 1 ? `${quoted(letters.join(""))}:*` : inOrder(pairsOf(letters))

/** Matches a word unchanged, by its stem in each language, and by its prefix for languages without a stemmer. */
const wordQuery = (plain: string, whole: string, stems: Stems, stopsIn: (language: string) => boolean): string => {
  const ways = [quoted(plain)]
  // A stem that is a word itself matches in the languages with this stem.
  const sameStem = new Map<string, Array<string>>()
  for (const language of languagesOfWord(whole)) {
    const found = stems({ language, word: whole })
    if (found?.length === 0 && stopsIn(language)) ways.push(quoted(languageToken(language)))
    for (const stem of found ?? []) {
      ways.push(quoted(stemToken(language, stem)))
      if (stem !== plain) sameStem.set(stem, [...sameStem.get(stem) ?? [], quoted(languageToken(language))])
    }
  }
  for (const [stem, languages] of sameStem) ways.push(allOf([quoted(stem), anyOf(languages)]))
  const beginning = prefixToken(plain)
  if (beginning !== undefined) ways.push(quoted(beginning))
  return anyOf(ways)
}

const partQuery = (part: SearchPart, stems: Stems, stopsIn: (language: string) => boolean): string =>
  part.kind === "word" ? wordQuery(part.plain, part.word, stems, stopsIn) : lettersQuery(part.letters)

const phraseQuery = (parts: ReadonlyArray<SearchPart>): string => {
  const placed: Array<PlacedToken> = []
  let place = 0
  for (const part of parts) {
    const { places, tokens } = tokensOf(part)
    placed.push(
      ...(part.kind === "letters" && part.letters.length > 1 ? pairsOf(part.letters) : tokens).map((
        { offset, token }
      ) => ({ token, offset: place + offset }))
    )
    place += places
  }
  const [first, ...others] = parts
  return first?.kind === "letters" && others.length === 0 ? lettersQuery(first.letters) : inOrder(placed)
}

const termQuery = (term: Term, stems: Stems, stopsIn: (language: string) => boolean): string => {
  switch (term.kind) {
    case "part":
      return partQuery(term.part, stems, stopsIn)
    case "phrase":
      return phraseQuery(term.parts)
    case "hashtag":
      return quoted(hashtagToken(term.name))
  }
}

/** Returns the words of a query in all languages that they may belong to. */
export const termsByLanguage = ({ terms }: SearchQuery): ReadonlyArray<LanguageWord> =>
  terms.flatMap(({ value }) =>
    value.kind === "part" && value.part.kind === "word"
      ? languagesOfWord(value.part.word).map((language) => ({
        language,
        word: value.part.kind === "word" ? value.part.word : ""
      }))
      : []
  )

/** Returns true if the query has a term that is not negated. */
export const hasKeyword = ({ terms }: SearchQuery): boolean => terms.some(({ negated }) => !negated)

/** Returns the terms of a query as a `tsquery`. */
export const termsQuery = (query: SearchQuery, stems: Stems): string => {
  const words = query.terms.filter(({ negated }) => !negated).map(({ value }) => value)
  // A stop word is optional if there is another word.
  const meansSomething = (term: Term, language: string) =>
    term.kind !== "part" || term.part.kind !== "word" || stems({ language, word: term.part.word })?.length !== 0
  const isStopWordIn = (language: string) => words.some((term) => meansSomething(term, language))
  const never = () => false
  return allOf(
    query.terms.map(({ negated, value }) =>
      negated ? `!${termQuery(value, stems, never)}` : termQuery(value, stems, isStopWordIn)
    )
  )
}

/** Returns the property and language operators of a query as `tsquery` texts. */
export const operatorQueries = ({ operators }: SearchQuery): ReadonlyArray<string> =>
  operators.flatMap(({ negated, value }) => {
    const token = value.kind === "property"
      ? propertyToken(value.property)
      : value.kind === "language"
      ? languageToken(value.language)
      : undefined
    return token === undefined ? [] : [(negated ? "!" : "") + quoted(token)]
  })
