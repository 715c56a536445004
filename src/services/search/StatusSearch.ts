import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { type AccountId, idMax } from "../database/Ids.ts"
import { newestFirst, type Page, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { visibleTo } from "../statuses/Visibility.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import { bounded, searchMillisMax } from "./Bounded.ts"
import { idRangeOf } from "./SearchedRange.ts"
import { readQuery, type SearchQuery } from "./SearchQuery.ts"
import { StatusIndex } from "./StatusIndex.ts"
import * as Stems from "./Stems.ts"
import { timeWindows } from "./TimeWindows.ts"
import {
  allOf,
  anyOf,
  authorToken,
  hasKeyword,
  mentionToken,
  operatorQueries,
  publicToken,
  quoted,
  termsByLanguage,
  termsQuery
} from "./TokenQuery.ts"

/**
 * Maximum favourites, bookmarks, boosts and votes that are read of each kind; for accounts with more, each match is
 * checked for marks instead.
 */
const marksMax = 10_000
/** Maximum matches that are checked for marks one by one. */
const fewMax = 2_000
/** Maximum offset, in posts. */
const offsetMax = 10_000

/** Search text and further restrictions. */
interface StatusQuery {
  readonly text: string
  readonly accountId: bigint | undefined
  readonly offset: number
}

const contextRows = rowsOf(Schema.Struct({
  marks: Schema.Int,
  timeZone: Schema.NullOr(Schema.String),
  languages: Schema.Array(Schema.String)
}))
const authorRows = rowsOf(Schema.Struct({ handle: Schema.String, id: Schema.NullOr(Schema.BigInt) }))

/** Full-text search of posts. A search that times out returns what it has found so far. */
export class StatusSearch extends Context.Service<StatusSearch, {
  /**
   * Finds public posts of `indexable` accounts, and posts that the viewer wrote, is mentioned in, favourited,
   * bookmarked, boosted or voted in; all only if visible to the viewer and not of hidden accounts. Newest first.
   */
  readonly find: (viewer: AccountId, query: StatusQuery, page: Page) => Effect.Effect<ReadonlyArray<bigint>>
}>()("murmuration/services/search/StatusSearch") {
  static readonly layer = Layer.effect(
    StatusSearch,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig
      const index = yield* StatusIndex
      const stemsOf = Stems.make(sql)

      /** SQL of the viewer's marks on posts, up to one more than `marksMax` of each kind. */
      const marks = (viewer: AccountId) =>
        sql.join(" UNION ALL ", false)(
          [["favourites", "status_id"], ["bookmarks", "status_id"], ["poll_votes", "status_id"], [
            "statuses",
            "reblog_of_id"
          ]]
            .map(([table = "", column = ""]) =>
              sql`(SELECT ${sql.literal(column)} AS id FROM ${sql.literal(table)} WHERE account_id = ${viewer}
                AND ${sql.literal(table === "statuses" ? "reblog_of_id IS NOT NULL AND deleted_at IS NULL" : "TRUE")}
                LIMIT ${rowsMax(sql, marksMax + 1)})`
            )
        )

      const isMarked = (viewer: AccountId) =>
        sql`(EXISTS (SELECT FROM favourites k WHERE k.account_id = ${viewer} AND k.status_id = s.id OFFSET 0)
          OR EXISTS (SELECT FROM bookmarks k WHERE k.account_id = ${viewer} AND k.status_id = s.id OFFSET 0)
          OR EXISTS (SELECT FROM poll_votes k WHERE k.account_id = ${viewer} AND k.status_id = s.id OFFSET 0)
          OR EXISTS (SELECT FROM statuses k WHERE k.account_id = ${viewer} AND k.reblog_of_id = s.id
            AND k.deleted_at IS NULL OFFSET 0))`

      /** Returns the accounts of `from:` operators by their handles; null if unknown. */
      const authorsOf = Effect.fnUntraced(function*(viewer: AccountId, { operators }: SearchQuery) {
        const handles = [...new Set(operators.flatMap(({ value }) => value.kind === "from" ? [value.handle] : []))]
        if (handles.length === 0) return new Map<string, bigint | null>()
        const named = handles.map((handle) => {
          const [username = "", domain = ""] = handle.replace(/^@/, "").split("@")
          return { handle, username, domain: domain === localDomain ? "" : domain }
        })
        const rows = yield* authorRows(sql`SELECT n.handle, a.id FROM unnest(
            ${named.map(({ handle }) => handle)}::text[], ${named.map(({ username }) => username)}::text[],
            ${named.map(({ domain }) => domain)}::text[]) AS n (handle, username, domain)
          LEFT JOIN accounts a ON lower(a.username) = n.username AND lower(coalesce(a.domain, '')) = n.domain`)
        return new Map(rows.map(({ handle, id }) => [handle, handle === "me" ? viewer : id]))
      })

      const find = traced("StatusSearch.find")(function*(viewer: AccountId, asked: StatusQuery, page: Page) {
        const query = readQuery(asked.text)
        if (query.terms.length + query.operators.length === 0 || page.limit === 0 || asked.offset > offsetMax) return []
        yield* index.catchUp
        const now = yield* Clock.currentTimeMillis
        // Collects results, to return them after a timeout.
        const found: Array<{ readonly id: bigint }> = []
        yield* bounded(
          sql,
          Effect.gen(function*() {
            const authors = yield* authorsOf(viewer, query)
            const [context] = yield* contextRows(
              sql`SELECT time_zone, ARRAY(SELECT language FROM search_languages) AS languages, (SELECT count(*)::int FROM (
            ${marks(viewer)}) m) AS marks FROM users WHERE account_id = ${viewer}`
            )
            const { languages = [], marks: marked = 0, timeZone = null } = context ?? {}
            const stems = yield* stemsOf(termsByLanguage(query).filter(({ language }) => languages.includes(language)))

            const from: ReadonlyArray<string> = query.operators.flatMap(({ negated, value }) => {
              if (value.kind !== "from") return []
              // An unknown account has no posts.
              const author = quoted(authorToken(authors.get(value.handle) ?? 0n))
              return [negated ? `!${author}` : author]
            })
            const conditions = [
              ...query.terms.length === 0 ? [] : [termsQuery(query, stems)],
              ...operatorQueries(query),
              ...from,
              ...asked.accountId === undefined ? [] : [quoted(authorToken(asked.accountId))]
            ]
            // Empty for operators that only restrict time or scope.
            const words = conditions.length === 0 ? [] : [allOf(conditions)]
            // The index needs a token to find; conditions that only exclude match nearly every post.
            const selective = hasKeyword(query) || conditions.some((condition) => !condition.startsWith("!"))
            const own = anyOf([quoted(authorToken(viewer)), quoted(mentionToken(viewer))])
            const places = new Set(query.operators.flatMap(({ negated, value }) =>
              value.kind !== "in"
                ? []
                : !negated || value.place === "all"
                ? [value.place]
                : [value.place === "public" ? "library" as const : "public" as const]
            ))
            const inPublic = !places.has("library")
            const inLibrary = !places.has("public")
            const scope = [...inPublic ? [quoted(publicToken)] : [], ...inLibrary ? [own] : []]
            if (scope.length === 0) return []

            const range = idRangeOf(query, page, timeZone)
            const ascending = page.minId !== undefined
            const direction = sql.literal(ascending ? "ASC" : "DESC")
            const rare = selective && inLibrary && marked > marksMax
            const isVisible = (...ways: ReadonlyArray<Fragment>) =>
              sql.and([
                ...range.except.map(({ above, below }) => sql`NOT (s.id > ${above} AND s.id < ${below})`),
                visibleTo(sql, viewer, "s"),
                // Checked again, as the index may lag behind.
                ...ways.length === 0 ? [] : [sql.or(ways)],
                sql`(s.account_id = ${viewer} OR (NOT ${
                  isHidden(sql, sql`${viewer}::bigint`, sql`s.account_id`, new Date(now))
                }
                AND (NOT EXISTS (SELECT FROM accounts quiet WHERE quiet.id = s.account_id AND quiet.silenced_at IS NOT NULL OFFSET 0)
                OR EXISTS (SELECT FROM follows f WHERE f.account_id = ${viewer} AND f.target_account_id = s.account_id OFFSET 0))))`
              ])
            const forEverybody = sql`(s.visibility = 'public' AND EXISTS (SELECT FROM accounts open
            WHERE open.id = s.account_id AND open.indexable OFFSET 0))`
            const isOwn = sql`(s.account_id = ${viewer} OR EXISTS (SELECT FROM mentions named
            WHERE named.status_id = s.id AND named.account_id = ${viewer} AND NOT named.silent OFFSET 0))`
            const isOwnMarked = isMarked(viewer)
            const scopes = [
              ...inPublic ? [forEverybody] : [],
              ...inLibrary ? [isOwn] : [],
              ...rare ? [isOwnMarked] : []
            ]

            const rowsWanted = page.limit + asked.offset
            const most = rowsMax(sql, rowsWanted)
            const { above = -1n, below = idMax } = range
            let inOrder = 0
            for (const window of timeWindows(range, ascending ? "oldest first" : "newest first", now)) {
              if (inOrder >= rowsWanted || (yield* Clock.currentTimeMillis) - now > searchMillisMax) break
              const tokens = [
                ...words,
                ...window.tokens.length === 0 ? [] : [anyOf(window.tokens.map(quoted))],
                ...rare ? [] : [anyOf(scope)]
              ]
              // Uses only the word index; then checks rows in id order, until there are enough.
              const rows = yield* idRows(sql`SELECT c.id FROM (SELECT d.status_id + 0 AS id FROM search_documents d
                WHERE d.tokens @@ ${allOf(tokens)}::tsquery
                  AND d.status_id + 0 >= ${window.from} AND d.status_id + 0 < ${window.to} ORDER BY 1 ${direction} OFFSET 0) c
              CROSS JOIN LATERAL (SELECT FROM statuses s WHERE s.id = c.id AND ${isVisible(...scopes)} OFFSET 0) s
              ORDER BY c.id ${direction} LIMIT ${most}`)
              found.push(...rows)
              inOrder += rows.length
            }
            if (!inLibrary || rare || marked === 0) return []
            // With enough matches only newer marks count; with few matches, all of them are checked.
            const last = inOrder < rowsWanted ? undefined : found[rowsWanted - 1]?.id
            const matches = words.length === 0 ? sql.literal("TRUE") : sql`d.tokens @@ ${words.join("")}::tsquery`
            const few = last === undefined && selective
              ? yield* idRows(sql`SELECT d.status_id AS id FROM search_documents d
                WHERE ${matches} LIMIT ${rowsMax(sql, fewMax + 1)}`)
              : undefined
            const candidates = few === undefined || few.length > fewMax
              ? sql`SELECT DISTINCT id FROM (${marks(viewer)}) k`
              : sql`SELECT unnest(${few.map(({ id }) => id)}::bigint[]) AS id`
            const [lowest, highest] = ascending ? [above, last ?? below] : [last ?? above, below]
            found.push(
              ...yield* idRows(sql`SELECT m.id FROM (SELECT id FROM (${candidates}) k
                WHERE id > ${lowest} AND id < ${highest} ORDER BY id ${direction} OFFSET 0) m
              CROSS JOIN LATERAL (SELECT FROM search_documents d WHERE d.status_id = m.id AND ${matches} OFFSET 0) d
              CROSS JOIN LATERAL (SELECT FROM statuses s WHERE s.id = m.id AND ${isVisible(isOwnMarked)} OFFSET 0) s
              ORDER BY m.id ${direction} LIMIT ${most}`)
            )
            return []
          })
        )
        const order = page.minId === undefined ? -1 : 1
        const ids = [...new Set(found.map(({ id }) => id))].toSorted((a, b) => a < b ? -order : order)
        return newestFirst(page, ids.slice(asked.offset, asked.offset + page.limit))
      })
      return StatusSearch.of({ find })
    })
  ).pipe(Layer.provide(StatusIndex.layer))
}
