import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LRUCache } from "lru-cache"
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

/** Words whose stems are kept: people say most with few. Some megabytes at most. */
const keptMax = 20_000

const keyOf = ({ language, word }: LanguageWord) => `${language} ${word}`

/** Stems words, those that are not known yet in one statement; undefined is what has no dictionary. */
export const make = (sql: SqlClient) => {
  // Dictionaries come with Postgres and never change while it runs.
  const kept = new LRUCache<string, ReadonlyArray<string>>({ max: keptMax })
  return Effect.fnUntraced(function*(words: ReadonlyArray<LanguageWord>) {
    const found = new Map<string, ReadonlyArray<string>>()
    const missing = new Map<string, LanguageWord & { readonly dictionary: string }>()
    for (const given of words) {
      const [key, dictionary] = [keyOf(given), dictionaryOf(given.language)]
      if (dictionary === undefined || found.has(key)) continue
      const stems = kept.get(key)
      if (stems === undefined) missing.set(key, { ...given, dictionary })
      else found.set(key, stems)
    }
    if (missing.size > 0) {
      const asked = [...missing.values()]
      const rows = yield* lexemeRows(sql`
        SELECT g.language, g.word, ts_lexize(d.oid::regdictionary, g.word) AS lexemes
        FROM unnest(${asked.map(({ language }) => language)}::text[], ${asked.map(({ word }) => word)}::text[],
          ${asked.map(({ dictionary }) => dictionary)}::text[]) AS g (language, word, dictionary)
        JOIN pg_ts_dict d ON d.dictname = g.dictionary AND d.dictnamespace = 'pg_catalog'::regnamespace`)
      for (const row of rows) {
        const stems = row.lexemes.map(withoutAccents)
        found.set(keyOf(row), stems)
        kept.set(keyOf(row), stems)
      }
    }
    const answer: Stems = (word) => found.get(keyOf(word))
    return answer
  })
}
