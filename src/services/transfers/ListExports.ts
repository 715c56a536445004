import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { Filters } from "../filters/Filters.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { csvLine } from "../text/Csv.ts"
import { listKinds } from "./Transfer.ts"

/** Lists that a member can take out: those that can be imported, and the followers. */
export const exportKinds = [...listKinds, "followers"] as const
export const ExportKind = Schema.Literals(exportKinds)
export type ExportKind = typeof ExportKind.Type
/** Exports that are CSV files. */
type CsvKind = Exclude<ExportKind, "filters">

/** Names of the exported files, as Mastodon's. */
export const exportFileNames: Readonly<Record<ExportKind, string>> = {
  follows: "following_accounts.csv",
  followers: "followers.csv",
  lists: "lists.csv",
  blocks: "blocked_accounts.csv",
  mutes: "muted_accounts.csv",
  ["domain_blocks"]: "blocked_domains.csv",
  bookmarks: "bookmarks.csv",
  favourites: "favourites.csv",
  filters: "custom_filters.json"
}

/** Headers of the files; those of Mastodon without one have none. */
const headers: Readonly<Partial<Record<CsvKind, ReadonlyArray<string>>>> = {
  follows: ["Account address", "Show boosts", "Notify on new posts", "Languages"],
  followers: ["Account address"],
  mutes: ["Account address", "Hide notifications"]
}

/** Rows of one read. */
const pageRows = 1_000

const cellRows = rowsOf(Schema.Struct({ id: Schema.BigInt, cells: Schema.Array(Schema.String) }))
const figureRows = rowsOf(Schema.Record(Schema.String, Schema.Int))
const uriRows = rowsOf(Schema.Struct({ id: Schema.BigInt, uri: Schema.String }))

type Figures = Readonly<Record<ExportKind, number>>

/** Files of a member's lists, in the formats of Mastodon. Their cells are unchanged, as servers import them. */
export class ListExports extends Context.Service<ListExports, {
  /** Returns the text of a file in parts; a list of any length is read in pages, newest first. */
  readonly file: (owner: AccountId, kind: ExportKind) => Stream.Stream<string, SqlError>
  /** Counts the entries of each file. */
  readonly counts: (owner: AccountId) => Effect.Effect<Figures>
}>()("murmuration/services/transfers/ListExports") {
  static readonly layer = Layer.effect(
    ListExports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const filters = yield* Filters
      const { localDomain, publicUrl } = yield* ServerConfig

      const handle = sql`a.username || '@' || coalesce(a.domain, ${localDomain}::text)`
      const flag = (column: string) => sql`CASE WHEN ${sql.literal(column)} THEN 'true' ELSE 'false' END`
      const ofAccounts = (table: string, ownColumn: string, theirs: string, cells: ReadonlyArray<Fragment>) => ({
        cells,
        from: sql`${sql(table)} r JOIN accounts a ON a.id = r.${sql(theirs)}`,
        owner: sql`r.${sql(ownColumn)}`
      })
      const uri = sql`coalesce(s.uri, ${publicUrl}::text || a.actor_path || '/statuses/' || s.id)`
      const ofPosts = (table: string) => ({
        cells: [uri],
        from: sql`${sql(table)} r JOIN statuses s ON s.id = r.status_id AND s.deleted_at IS NULL
          JOIN accounts a ON a.id = s.account_id`,
        owner: sql`r.account_id`
      })
      const sources: Readonly<
        Record<CsvKind, { readonly cells: ReadonlyArray<Fragment>; readonly from: Fragment; readonly owner: Fragment }>
      > = {
        follows: ofAccounts("follows", "account_id", "target_account_id", [
          handle,
          flag("r.show_reblogs"),
          flag("r.notify"),
          sql`coalesce(array_to_string(r.languages, ', '), '')`
        ]),
        followers: ofAccounts("follows", "target_account_id", "account_id", [handle]),
        blocks: ofAccounts("blocks", "account_id", "target_account_id", [handle]),
        mutes: ofAccounts("mutes", "account_id", "target_account_id", [handle, flag("r.hide_notifications")]),
        lists: {
          cells: [sql`l.title`, handle],
          from: sql`lists l JOIN list_accounts r ON r.list_id = l.id JOIN accounts a ON a.id = r.account_id`,
          owner: sql`l.account_id`
        },
        ["domain_blocks"]: { cells: [sql`r.domain`], from: sql`domain_mutes r`, owner: sql`r.account_id` },
        bookmarks: ofPosts("bookmarks"),
        favourites: ofPosts("favourites")
      }

      const page = Effect.fnUntraced(function*(owner: AccountId, kind: CsvKind, before: bigint | undefined) {
        const { cells, from, owner: column } = sources[kind]
        return yield* cellRows(sql`SELECT r.id, ARRAY[${sql.csv(cells)}]::text[] AS cells FROM ${from}
          WHERE ${column} = ${owner} AND ${before === undefined ? sql`TRUE` : sql`r.id < ${before}`}
          ORDER BY r.id DESC LIMIT ${rowsMax(sql, pageRows)}`)
      })

      const csv = (owner: AccountId, kind: CsvKind) => {
        const header = headers[kind]
        const body = Stream.paginate(
          undefined,
          (before: bigint | undefined) =>
            Effect.map(page(owner, kind, before), (rows) =>
              [
                [rows.map(({ cells }) => csvLine(cells)).join("")],
                rows.length < pageRows ? Option.none() : Option.fromUndefinedOr(rows.at(-1)?.id)
              ] as const)
        )
        return Stream.concat(Stream.fromIterable(header === undefined ? [] : [csvLine(header)]), body)
      }

      const filtersJson = Effect.fnUntraced(function*(owner: AccountId) {
        const all = yield* filters.list(owner)
        const statusIds = all.flatMap(({ statuses }) => statuses.map(({ statusId }) => statusId))
        const uris = new Map(
          (yield* uriRows(sql`SELECT s.id, ${uri} AS uri FROM statuses s JOIN accounts a ON a.id = s.account_id
            WHERE s.id = ANY (${statusIds}::bigint[]) AND s.deleted_at IS NULL`)).map(({ id, uri }) => [id, uri])
        )
        return JSON.stringify({
          ["custom_filters"]: all.map(({ action, contexts, expiresAt, keywords, statuses, title }) => ({
            title,
            ["expires_at"]: expiresAt,
            context: contexts,
            action,
            ["keywords_attributes"]: keywords.map(({ keyword, wholeWord }) => ({ keyword, ["whole_word"]: wholeWord })),
            statuses: statuses.flatMap(({ statusId }) => uris.get(statusId) ?? [])
          }))
        })
      })

      const countOf = (kind: ExportKind, owner: AccountId) => {
        if (kind === "filters") return sql`(SELECT count(*)::int FROM filters WHERE account_id = ${owner}) AS filters`
        const { from, owner: column } = sources[kind]
        return sql`(SELECT count(*)::int FROM ${from} WHERE ${column} = ${owner}) AS ${sql.literal(kind)}`
      }

      return ListExports.of({
        file: (owner, kind) => kind === "filters" ? Stream.fromEffect(filtersJson(owner)) : csv(owner, kind),
        counts: traced("ListExports.counts")(function*(owner: AccountId) {
          const figures = singleRow(
            yield* figureRows(sql`SELECT ${sql.csv(exportKinds.map((kind) => countOf(kind, owner)))}`)
          )
          return {
            follows: figures["follows"] ?? 0,
            followers: figures["followers"] ?? 0,
            lists: figures["lists"] ?? 0,
            blocks: figures["blocks"] ?? 0,
            mutes: figures["mutes"] ?? 0,
            // The driver renames columns.
            ["domain_blocks"]: figures["domainBlocks"] ?? 0,
            bookmarks: figures["bookmarks"] ?? 0,
            favourites: figures["favourites"] ?? 0,
            filters: figures["filters"] ?? 0
          }
        }, Effect.orDie)
      })
    })
  )
}
