import { type SearchedStatus, tokenise } from "../../src/services/search/StatusTokens.ts"
import { timeSlotBits, timeSlotTokens } from "../../src/services/search/TimeWindows.ts"
import { authorToken, publicToken } from "../../src/services/search/TokenQuery.ts"
import { textsBy } from "../../src/services/statuses/Written.ts"
import type { Query } from "./Backing.ts"
import type { People } from "./People.ts"

/* Posts to search, in five scripts. Word frequencies are realistic: the most common word is in every second post. */

/** A language and the pieces of its words; `gap` separates words. */
interface Script {
  readonly language: string
  readonly dictionary: string | undefined
  readonly pieces: ReadonlyArray<string>
  readonly endings: ReadonlyArray<string>
  readonly gap: string
}

/**
 * Chinese: words of two of 3,000 characters. Others: syllables of consonant, vowel and consonant, which have as many
 * letter pairs as real texts.
 */
const compounds = Array.from(
  { length: 900 },
  (_, n) => String.fromCodePoint(0x4e00 + n * 37 % 3_000, 0x4e00 + (n * 101 + 7) % 3_000)
)
const syllables = Array.from(
  { length: 900 },
  (_, n) => String.fromCodePoint(0x0e01 + n % 46, 0x0e30 + Math.floor(n / 46) % 10, 0x0e01 + n * 7 % 46)
)

const scripts: ReadonlyArray<Script> = [
  {
    language: "en",
    dictionary: "english_stem",
    pieces: "ba lo tri men sha co per ne ful wa gri st".split(" "),
    endings: ["", "s", "ing", "ed"],
    gap: " "
  },
  {
    language: "ru",
    dictionary: "russian_stem",
    pieces: "ка ло при мен ша ко пер не ва гри ст зо".split(" "),
    endings: ["", "а", "ами", "ы"],
    gap: " "
  },
  {
    language: "ar",
    dictionary: "arabic_stem",
    pieces: "كت سل مد قر نب حم در عل بر شج وق طر".split(" "),
    endings: ["", "ة", "ات", "ون"],
    gap: " "
  },
  {
    language: "ja",
    dictionary: undefined,
    pieces: compounds,
    endings: ["", "の", "を", "は"],
    gap: ""
  },
  {
    language: "th",
    dictionary: undefined,
    pieces: syllables,
    endings: ["", "ที่", "และ", "ใน"],
    gap: ""
  }
]

const wordsEach = 8_000
const textsEach = 4_000
const wordsOfText = 20
/** Period of the posts, and number of their authors; two of three authors are `indexable`. */
const millisOfAll = 365 * 86_400_000
const authors = 5_000

/** Returns a repeatable stream of random numbers. */
const chances = (seed: number) => {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

const vocabulary = ({ endings, pieces }: Script): ReadonlyArray<string> =>
  Array.from({ length: wordsEach }, (_, n) => {
    let word = endings[n % endings.length] ?? ""
    for (
      let rest = Math.floor(n / endings.length);
      word.length < 2 || rest > 0;
      rest = Math.floor(rest / pieces.length)
    ) {
      word = (pieces[rest % pieces.length] ?? "") + word
    }
    return word
  })

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

const blank: SearchedStatus = {
  id: 0n,
  accountId: 0n,
  html: "",
  ...textsBy(() => ""),
  language: null,
  sensitive: false,
  isReply: false,
  isQuote: false,
  findable: false,
  involvesLocal: true,
  mentionIds: [],
  tags: [],
  mediaTypes: [],
  descriptions: [],
  options: null,
  cardType: null
}

/** Words and phrases of the posts, by language. `rarity` is from 0 (most common) to 1. */
export interface Wording {
  readonly languages: ReadonlyArray<string>
  readonly word: (language: number, rarity: number) => string
  readonly phrase: (language: number, place: number) => string
}

/** Fills the database with `count` posts and their index; returns the words to search for. */
export const seedPosts = async (query: Query, people: People, count: number): Promise<Wording> => {
  const chance = chances(7)
  const vocabularies = scripts.map(vocabulary)
  const drawn = (words: ReadonlyArray<string>) => words[Math.floor(wordsEach ** chance()) - 1] ?? words[0] ?? ""
  const texts = scripts.map((_, script) =>
    Array.from(
      { length: textsEach },
      () => Array.from({ length: wordsOfText }, () => drawn(vocabularies[script] ?? []))
    )
  )
  await query("SET session_replication_role = replica")
  await query("SET maintenance_work_mem = '512MB'")
  await query("CREATE TEMP TABLE texts (place int PRIMARY KEY, language text, html text, tokens tsvector)")
  for (const [at, script] of scripts.entries()) {
    const stems = new Map<string, ReadonlyArray<string>>()
    if (script.dictionary !== undefined) {
      const rows = await query(`SELECT w, array_to_string(ts_lexize('${script.dictionary}', w), ' ') AS stems
        FROM unnest(ARRAY[${(vocabularies[at] ?? []).map(quote).join()}]) w`)
      for (const { stems: found, w } of rows) stems.set(String(w), String(found).split(" "))
    }
    const values = (texts[at] ?? []).map((words, n) => {
      const html = `<p>${words.join(script.gap)}</p>`
      const { tokens } = tokenise({ ...blank, html, language: script.language })
      return `(${n * scripts.length + at}, '${script.language}', ${quote(html)}, ${
        quote(tokens(({ word }) => stems.get(word)))
      }::tsvector)`
    })
    for (let from = 0; from < values.length; from += 1_000) {
      await query(`INSERT INTO texts VALUES ${values.slice(from, from + 1_000).join()}`)
    }
  }
  const shared = [authorToken(0n), ...timeSlotTokens(0n)].map(quote).join()
  await query(`UPDATE texts SET tokens = ts_delete(tokens, ARRAY[${shared}])`)

  const began = Date.now() - millisOfAll
  const millis = `(${began} + n * ${millisOfAll / count}::float8)::bigint`
  const posts = `SELECT (millis << 16) + n % 65536 AS id, millis, author, ${
    people.accountId(0)
  } + author AS account_id, n, html, language, tokens
    FROM (SELECT n, ${millis} AS millis, 1 + (n::bigint * 7919 % ${authors}) AS author FROM generate_series(1, ${count}) n) posts
    JOIN texts ON texts.place = n % ${scripts.length * textsEach}`
  const stretches = timeSlotBits.map((length) => `':${length}.' || to_hex(millis >> ${length})`)
  await query("DROP INDEX search_documents_tokens")
  await query(`INSERT INTO statuses (id, account_id, html, visibility, language, conversation_id, created_at)
    SELECT id, account_id, html, 'public', language, id, to_timestamp(millis / 1000.0) FROM (${posts}) p`)
  await query(
    `INSERT INTO status_stats (status_id) SELECT (${millis} << 16) + n % 65536 FROM generate_series(1, ${count}) n`
  )
  await query(`INSERT INTO search_documents (status_id, tokens)
    SELECT id, tokens || ('''post' || n || ''':1')::tsvector || array_to_tsvector(ARRAY['@' || account_id, ${stretches.join()}]
      || CASE WHEN author % 3 > 0 THEN ARRAY['${publicToken}'] ELSE '{}' END) FROM (${posts}) p ORDER BY id`)
  await query(`INSERT INTO search_languages (language) VALUES ('en'), ('ru'), ('ar') ON CONFLICT DO NOTHING`)
  await query(
    "CREATE INDEX search_documents_tokens ON search_documents USING gin (tokens) WITH (gin_pending_list_limit = 512)"
  )
  await query(
    `UPDATE accounts SET indexable = true WHERE id <= ${people.accountId(authors)} AND (id - ${
      people.accountId(0)
    }) % 3 > 0`
  )
  // One reader with 5,000 favourites, and one with too many to be scanned.
  for (
    const [reader, favourites] of [[101, Math.min(5_000, count / 10)], [102, Math.min(50_000, count / 2)]] as const
  ) {
    await query(`INSERT INTO favourites (id, account_id, status_id) SELECT ${reader * 10_000_000} + place,
      ${people.accountId(reader)}, (${millis} << 16) + n % 65536
      FROM (SELECT place, 1 + place * 7919 % ${count} AS n FROM generate_series(1::bigint, ${favourites}) place) p`)
  }
  await query("SET session_replication_role = origin")
  await query("VACUUM ANALYZE")
  await query("CHECKPOINT")
  return {
    languages: scripts.map(({ language }) => language),
    word: (language, rarity) => vocabularies[language]?.[Math.floor(wordsEach ** rarity) - 1] ?? "",
    phrase: (language, place) => {
      const words = texts[language]?.[place % textsEach] ?? []
      return words.slice(3, 6).join(scripts[language]?.gap ?? "")
    }
  }
}
