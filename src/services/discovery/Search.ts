import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { blocks } from "../HiddenAccounts.ts"
import { normalise } from "../html/HashtagNames.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsMax } from "../Paging.ts"
import { presentAccount } from "../PresentAccounts.ts"
import { idRows } from "../Rows.ts"
import { bounded } from "../search/Bounded.ts"
import { bounded as boundedText } from "../text/BoundedText.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"

/** Characters of a query that are heeded. */
export const queryCharactersMax = 200
/** Words of it that are heeded, each of which costs a search. */
const queryWordsMax = 10
/** Rows that a search goes through before it sorts and pages. No query costs more than another (row 83). */
export const accountCandidatesMax = 500
const tagCandidatesMax = 500

/** A stretch of a list that is sorted by relevance. */
interface Stretch {
  readonly offset: number
  readonly limit: number
}

/** What a search of accounts is narrowed to. */
interface AccountQuery extends Stretch {
  readonly text: string
  /** Only whom the viewer follows. */
  readonly following: boolean
}

/** What a search of hashtags is narrowed to. */
interface TagQuery extends Stretch {
  /** Only those that staff looked at, and the one that is meant. */
  readonly reviewed: boolean
}

/** Finds accounts and hashtags. A search that takes too long finds nothing. */
export class Search extends Context.Service<Search, {
  /**
   * By the start of the name or of words of the display name, or a whole `name@domain`; exact matches first, then
   * whom the viewer follows, then by followers. Accounts that the viewer mutes or blocks are found, so that they can be let in again; those that block
   * the viewer are not.
   */
  readonly accounts: (viewer: Viewer, query: AccountQuery) => Effect.Effect<ReadonlyArray<bigint>>
  /** Hashtags whose name starts with `text`, with or without `#`; short ones first, then by name. */
  readonly tags: (text: string, query: TagQuery) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/discovery/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig
      const ids = (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)

      /** By an index with text_pattern_ops; unlike LIKE it serves a statement that is planned before its value is known. */
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
        // Each way to find somebody has its own index and its own bound.
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

/** What begins a hashtag, as in posts (`html/Tokens.ts`). */
export const hashtagSign = /^[#＃]/

/** The first words of which each asks for something that no other one asks for anyway. */
const narrowing = (words: ReadonlyArray<string>, impliedBy: (word: string, other: string) => boolean) => {
  const different = [...new Set(words)].filter(Boolean)
  return different.filter((word) => !different.some((other) => other !== word && impliedBy(word, other)))
    .slice(0, queryWordsMax)
}

/** What no text continues with. */
const lastCharacter = "\u{10ffff}"

/** A query of texts in which every word of `text` begins some word; empty where that would be half of all texts. */
export const wordStarts = (text: string): string => {
  const words = narrowing(text.split(/[^\p{L}\p{M}\p{N}]+/u), (word, other) => other.startsWith(word))
  return words.some((word) => word.length > 1) ? words.map((word) => `${word}:*`).join(" & ") : ""
}
