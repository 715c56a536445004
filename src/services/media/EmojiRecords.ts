import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { traced } from "../runtime/Traced.ts"

const Row = Schema.Struct({
  id: Schema.BigInt,
  shortcode: Schema.String,
  domain: Schema.NullOr(Schema.String),
  category: Schema.NullOr(Schema.String),
  visibleInPicker: Schema.Boolean,
  disabled: Schema.Boolean,
  url: Schema.NullOr(Schema.String),
  staticUrl: Schema.NullOr(Schema.String),
  fileName: Schema.NullOr(Schema.String),
  staticName: Schema.NullOr(Schema.String),
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
const recordRows = rowsOf(Row)

/** Emoji for staff; `domain` is null for local ones. */
export type EmojiRecord =
  & Omit<typeof Row.Type, "fileName" | "staticName" | "staticUrl" | "url">
  & { readonly url: string; readonly staticUrl: string }

/** Filter for emoji: remote ones if `remote`, those of one server if `domain` is given. */
interface EmojiQuery {
  readonly remote: boolean
  readonly domain?: string | undefined
  /** Substring of the shortcode. */
  readonly shortcode?: string | undefined
}

/** Reads emoji for staff, including disabled, unlisted and remote ones. */
export class EmojiRecords extends Context.Service<EmojiRecords, {
  readonly list: (query: EmojiQuery, page: Page) => Effect.Effect<ReadonlyArray<EmojiRecord>>
  /** Returns the number of matching emoji, by `boundedCount`. */
  readonly total: (query: EmojiQuery) => Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<EmojiRecord | undefined>
}>()("murmuration/services/media/EmojiRecords") {
  static readonly layer = Layer.effect(
    EmojiRecords,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const all = sql`SELECT id, shortcode, domain, category, visible_in_picker, disabled, url, static_url, file_name,
        static_name, created_at, coalesce(updated_at, created_at) AS updated_at FROM custom_emojis`
      const recordOf = ({ fileName, staticName, staticUrl, url, ...row }: typeof Row.Type): EmojiRecord => {
        const address = fileName === null ? url ?? "" : Urls.file(config, fileName)
        return {
          ...row,
          url: address,
          staticUrl: staticName === null ? staticUrl ?? address : Urls.file(config, staticName)
        }
      }
      const matches = ({ domain, remote, shortcode }: EmojiQuery) =>
        sql.and([
          domain === undefined ? sql`(domain IS NOT NULL) = ${remote}` : sql`domain = ${domain}`,
          ...(shortcode === undefined ? [] : [sql`position(lower(${shortcode}) IN lower(shortcode)) > 0`])
        ])
      return EmojiRecords.of({
        list: traced("EmojiRecords.list")((query, page) => {
          const { tail, where } = clauses(sql, "id", page)
          return Effect.map(
            recordRows(sql`${all} WHERE ${where} AND ${matches(query)} ${tail}`),
            (rows) => newestFirst(page, rows).map(recordOf)
          )
        }, Effect.orDie),
        total: traced("EmojiRecords.total")((query) =>
          boundedCount(sql)(sql`SELECT FROM custom_emojis WHERE ${matches(query)}`)
        ),
        find: traced("EmojiRecords.find")(
          (id) =>
            Effect.map(
              recordRows(sql`${all} WHERE id = ${id}`),
              ([row]) => row === undefined ? undefined : recordOf(row)
            ),
          Effect.orDie
        )
      })
    })
  )
}
