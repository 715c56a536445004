import type { SearchQuery, Term } from "./SearchQuery.ts"
import { pairsOf, type PlacedToken, type SearchPart, tokensOf } from "./SearchText.ts"
import { languagesOfWord } from "./Stemmers.ts"
import type { LanguageWord, Stems } from "./Stems.ts"

/* The tokens of posts, and queries over them as texts of Postgres' `tsquery`. Words hold letters alone, so that the rest begin with a sign. */

export const authorToken = (id: bigint): string => `@${id}`
export const mentionToken = (id: bigint): string => `~${id}`
export const hashtagToken = (name: string): string => `#${name}`
export const propertyToken = (property: string): string => `+${property}`
export const languageToken = (language: string): string => `=${language}`
export const stemToken = (language: string, stem: string): string => `${language}/${stem}`
/** Of a post that may be found by everybody who may see it. */
export const publicToken = "*public"
/** The beginning of a word in a language without a stemmer, or in none that is known: what is behind it bends. */
export const beginningToken = (word: string): string | undefined => {
  const letters = word.length < beginningWordMin || /\p{N}/u.test(word)
    ? ""
    : word.slice(0, Math.min(beginningLettersMax, word.length - 1))
  return letters === "" ? undefined : `-/${letters.toWellFormed()}`
}

/** Letters of a word that has a beginning, and of a beginning. */
const [beginningWordMin, beginningLettersMax] = [4, 5]

/** A lexeme as it stands in the text of a `tsquery` or `tsvector`. */
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

/** A word as it stands, in the forms that it has in each language, and by its beginning where nobody knows the forms. */
const wordQuery = (plain: string, whole: string, stems: Stems, stopsIn: (language: string) => boolean): string => {
  const ways = [quoted(plain)]
  // Where a stem is a word by itself, it is meant in the languages that have this stem.
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
  const beginning = beginningToken(plain)
  if (beginning !== undefined) ways.push(quoted(beginning))
  return anyOf(ways)
}

const partQuery = (part: SearchPart, stems: Stems, stopsIn: (language: string) => boolean): string =>
  part.kind === "word" ? wordQuery(part.plain, part.whole, stems, stopsIn) : lettersQuery(part.letters)

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

/** The words of a query in all the languages that they may be of. */
export const wordsOf = ({ terms }: SearchQuery): ReadonlyArray<LanguageWord> =>
  terms.flatMap(({ what }) =>
    what.kind === "part" && what.part.kind === "word"
      ? languagesOfWord(what.part.whole).map((language) => ({
        language,
        word: what.part.kind === "word" ? what.part.whole : ""
      }))
      : []
  )

/** Whether something is asked for by what stands in it. */
export const hasKeyword = ({ terms }: SearchQuery): boolean => terms.some(({ negated }) => !negated)

/** The terms of a query that has a keyword. */
export const termsQuery = (query: SearchQuery, stems: Stems): string => {
  const words = query.terms.filter(({ negated }) => !negated).map(({ what }) => what)
  // A word that carries no meaning need not stand there, if another one does.
  const meansSomething = (term: Term, language: string) =>
    term.kind !== "part" || term.part.kind !== "word" || stems({ language, word: term.part.whole })?.length !== 0
  const stopsIn = (language: string) => words.some((term) => meansSomething(term, language))
  const never = () => false
  return allOf(
    query.terms.map(({ negated, what }) =>
      negated ? `!${termQuery(what, stems, never)}` : termQuery(what, stems, stopsIn)
    )
  )
}

/** Properties and languages that are asked for, in words of the index. */
export const operatorQueries = ({ operators }: SearchQuery): ReadonlyArray<string> =>
  operators.flatMap(({ negated, what }) => {
    const token = what.kind === "property"
      ? propertyToken(what.property)
      : what.kind === "language"
      ? languageToken(what.language)
      : undefined
    return token === undefined ? [] : [(negated ? "!" : "") + quoted(token)]
  })
