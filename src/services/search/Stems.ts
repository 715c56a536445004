import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { rowsOf } from "../Rows.ts"
import { withoutAccents } from "./SearchText.ts"
import { dictionaryOf } from "./Stemmers.ts"

/** A word in a language that it may be of. */
export interface LanguageWord {
  readonly language: string
  readonly word: string
}

const lexemeRows = rowsOf(
  Schema.Struct({ language: Schema.String, word: Schema.String, lexemes: Schema.Array(Schema.String) })
)

/** What Postgres' dictionaries make of words: stems without accents, none of a word that carries no meaning ("the"). */
export type Stems = (of: LanguageWord) => ReadonlyArray<string> | undefined

/** Stems words, all in one statement; undefined is what has no dictionary. */
export const make = (sql: SqlClient) => {
  const nothing: Stems = () => undefined
  return Effect.fnUntraced(function*(words: ReadonlyArray<LanguageWord>) {
    const known = words.flatMap((given) => {
      const dictionary = dictionaryOf(given.language)
      return dictionary === undefined ? [] : [{ ...given, dictionary }]
    })
    if (known.length === 0) return nothing
    const rows = yield* lexemeRows(sql`
      SELECT g.language, g.word, ts_lexize(d.oid::regdictionary, g.word) AS lexemes
      FROM unnest(${known.map(({ language }) => language)}::text[], ${known.map(({ word }) => word)}::text[],
        ${known.map(({ dictionary }) => dictionary)}::text[]) AS g (language, word, dictionary)
      JOIN pg_ts_dict d ON d.dictname = g.dictionary AND d.dictnamespace = 'pg_catalog'::regnamespace`)
    const stems = new Map(
      rows.map(({ language, lexemes, word }) => [`${language} ${word}`, lexemes.map(withoutAccents)])
    )
    return ({ language, word }: LanguageWord) => stems.get(`${language} ${word}`)
  })
}
