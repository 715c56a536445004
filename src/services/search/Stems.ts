import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import { LRUCache } from "lru-cache"
import { rowsOf } from "../database/Rows.ts"
import { withoutAccents } from "./SearchText.ts"
import { dictionaryOf } from "./Stemmers.ts"

/** A word and a language that it may belong to. */
export interface LanguageWord {
  readonly language: string
  readonly word: string
}

const lexemeRows = rowsOf(
  Schema.Struct({ language: Schema.String, word: Schema.String, lexemes: Schema.Array(Schema.String) })
)

/** Returns a word's stems without accents; none for a stop word ("the"). */
export type Stems = (of: LanguageWord) => ReadonlyArray<string> | undefined

/** Maximum words with cached stems, a few megabytes: most texts use few words. */
const keptMax = 20_000

const keyOf = ({ language, word }: LanguageWord) => `${language} ${word}`

/**
 * Returns a function that stems words, the uncached ones by one statement; undefined for words without a dictionary.
 */
export const make = (sql: SqlClient) => {
  // Dictionaries are part of Postgres and never change while it runs.
  const cache = new LRUCache<string, ReadonlyArray<string>>({ max: keptMax })
  return Effect.fnUntraced(function*(words: ReadonlyArray<LanguageWord>) {
    const found = new Map<string, ReadonlyArray<string>>()
    const missing = new Map<string, LanguageWord & { readonly dictionary: string }>()
    for (const given of words) {
      const [key, dictionary] = [keyOf(given), dictionaryOf(given.language)]
      if (dictionary === undefined || found.has(key)) continue
      const stems = cache.get(key)
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
        cache.set(keyOf(row), stems)
      }
    }
    const stems: Stems = (word) => found.get(keyOf(word))
    return stems
  })
}
