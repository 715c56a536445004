import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { idRows } from "../database/Rows.ts"
import { normalise } from "../html/HashtagNames.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../search/Bounded.ts"
import { bounded as boundedText } from "../text/BoundedText.ts"
import { blocks } from "../visibility/HiddenAccounts.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"

/** Maximum characters of a query; the rest is ignored. */
export const queryCharactersMax = 200
/** Maximum words of a query, each of which costs a search; the rest is ignored. */
const queryWordsMax = 10
/** Maximum rows that a search reads before it sorts and pages, so that every query has the same cost bound (row 83). */
export const accountCandidatesMax = 500
const tagCandidatesMax = 500

/** Page by offset of a list that is sorted by relevance. */
interface Stretch {
  readonly offset: number
  readonly limit: number
}

/** Options of an account search. */
interface AccountQuery extends Stretch {
  readonly text: string
  /** Only accounts that the viewer follows. */
  readonly following: boolean
}

/** Options of a hashtag search. */
interface TagQuery extends Stretch {
  /** Only hashtags reviewed by staff, and an exact match. */
  readonly reviewed: boolean
}

/** Finds accounts and hashtags. A search that times out finds nothing. */
export class Search extends Context.Service<Search, {
  /**
   * Matches the start of the name or of words of the display name, or a whole `name@domain`. Sorted by exact match,
   * then followed by the viewer, then followers. Finds accounts that the viewer mutes or blocks, so that this can be
   * undone; not those that block the viewer.
   */
  readonly accounts: (viewer: Viewer, query: AccountQuery) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns hashtags that start with `text`, with or without `#`; short ones first, then by name. */
  readonly tags: (text: string, query: TagQuery) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/discovery/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig
      const ids = (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)

      /**
       * Condition: the column has this prefix. Uses an index with text_pattern_ops, unlike LIKE also in a generic plan.
       */
      const startsWith = (column: Fragment, start: string): Fragment =>
        sql`(${column} ~>=~ ${start} AND ${column} ~<~ ${start + lastCharacter})`

      const accounts = traced("Search.accounts")(function*(viewer: Viewer, query: AccountQuery) {
        const [name = "", domain = ""] = query.text.slice(0, queryCharactersMax).trim().replace(/^@/, "").toLowerCase()
          .split("@")
        if (name === "" || query.limit === 0) return []
        const host = domain === localDomain ? "" : domain
        const words = domain === "" ? wordStarts(name) : ""
        const named: ReadonlyArray<Fragment> = domain === ""
          ? [
            startsWith(sql`lower(a.username)`, name),
            ...(words === ""
              ? []
              : [sql`a.display_name <> '' AND to_tsvector('simple', a.display_name) @@ to_tsquery('simple', ${words})`])
          ]
          : [
            sql`lower(a.username) = ${name} AND ${
              host === "" ? sql`a.domain IS NULL` : startsWith(sql`lower(coalesce(a.domain, ''))`, host)
            }`
          ]
        const welcome = sql.and([
          sql`a.suspended_at IS NULL AND a.moved_to_id IS NULL AND ${sql.literal(presentAccount("a"))}`,
          ...(viewer === undefined ? [] : [
            sql`NOT ${blocks(sql, sql`a.id`, sql`${viewer}::bigint`)}`,
            ...(query.following
              ? [
                sql`EXISTS (SELECT FROM follows f WHERE f.account_id = ${viewer} AND f.target_account_id = a.id OFFSET 0)`
              ]
              : [])
          ])
        ])
        const followed = viewer === undefined
          ? sql``
          : sql`EXISTS (SELECT FROM follows f WHERE f.account_id = ${viewer} AND f.target_account_id = c.id OFFSET 0) DESC,`
        // Each kind of match has its own index and its own bound.
        const candidates = sql.join(" UNION ", false)(
          named.map((condition) =>
            sql`(SELECT a.id, a.username, a.domain FROM accounts a WHERE ${condition} AND ${welcome}
              LIMIT ${rowsMax(sql, accountCandidatesMax)})`
          )
        )
        return yield* bounded(
          sql,
          Effect.map(
            idRows(sql`
            SELECT c.id FROM (${candidates}) c
            LEFT JOIN account_stats n ON n.account_id = c.id
            ORDER BY (lower(c.username) = ${name} AND lower(coalesce(c.domain, '')) = ${host}) DESC, ${followed}
              n.followers_count DESC NULLS LAST, c.id
            LIMIT ${rowsMax(sql, query.limit)} OFFSET ${query.offset}`),
            ids
          )
        )
      })

      const tags = traced("Search.tags")(function*(text: string, { limit, offset, reviewed }: TagQuery) {
        const name = normalise(boundedText(text.slice(0, queryCharactersMax).trim().replace(hashtagSign, "")))
        if (name === "" || limit === 0) return []
        return yield* bounded(
          sql,
          Effect.map(
            idRows(sql`
            SELECT c.id FROM (SELECT id, name FROM tags WHERE ${startsWith(sql`name`, name)} AND listable${
              reviewed ? sql` AND (reviewed_at IS NOT NULL OR name = ${name})` : sql``
            }
              ORDER BY name USING ~<~ LIMIT ${rowsMax(sql, tagCandidatesMax)}) c
            ORDER BY length(c.name), c.name COLLATE "C" LIMIT ${rowsMax(sql, limit)} OFFSET ${offset}`),
            ids
          )
        )
      })

      return Search.of({ accounts, tags })
    })
  )
}

/** Signs that begin a hashtag, as in posts (`html/TextTokens.ts`). */
export const hashtagSign = /^[#＃]/

/** Returns the first words that are not implied by another one. */
const narrowing = (words: ReadonlyArray<string>, impliedBy: (word: string, other: string) => boolean) => {
  const different = [...new Set(words)].filter(Boolean)
  return different.filter((word) => !different.some((other) => other !== word && impliedBy(word, other)))
    .slice(0, queryWordsMax)
}

/** Largest character, the upper bound of a prefix range. */
const lastCharacter = "\u{10ffff}"

/**
 * Returns a text search query that requires a prefix match for each word of `text`; empty if all words have one
 * character, which would match half of all texts.
 */
export const wordStarts = (text: string): string => {
  const words = narrowing(text.split(/[^\p{L}\p{M}\p{N}]+/u), (word, other) => other.startsWith(word))
  return words.some((word) => word.length > 1) ? words.map((word) => `${word}:*`).join(" & ") : ""
}
