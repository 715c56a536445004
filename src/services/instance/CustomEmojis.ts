import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import type { Emoji } from "./Emoji.ts"
import * as ForeignEmojis from "./ForeignEmojis.ts"
import { ServerConfig } from "./ServerConfig.ts"
import * as Urls from "./Urls.ts"

/** Maximum local emoji in memory, the oldest. */
export const customEmojisMax = 10_000
/** Lifetime of the cached emoji, in milliseconds: while this node receives changes, and while it does not. */
const customEmojiMillisMax = 30_000
const customEmojiAloneMillisMax = 1_000

const shortcodes = /:([a-zA-Z0-9_]{2,128}):/g

const Row = Schema.Struct({
  id: Schema.BigInt,
  shortcode: Schema.String,
  visibleInPicker: Schema.Boolean,
  category: Schema.NullOr(Schema.String),
  updatedAt: Timestamptz,
  url: Schema.NullOr(Schema.String),
  staticUrl: Schema.NullOr(Schema.String),
  fileName: Schema.NullOr(Schema.String),
  staticName: Schema.NullOr(Schema.String)
})
type Row = typeof Row.Type
const emojiRows = rowsOf(Row)

/** Custom emoji of this server; remote ones belong to the servers of their accounts. */
export class CustomEmojis extends Context.Service<CustomEmojis, {
  /** Enabled emoji that are shown in the picker (S-093, S-159). */
  readonly listed: Effect.Effect<ReadonlyArray<Emoji>>
  /** Enabled emoji that texts may use, including unlisted ones. */
  readonly enabled: Effect.Effect<ReadonlyArray<Emoji>>
  /** A function that finds the enabled emoji in texts, without duplicates, including unlisted ones. */
  readonly finder: Effect.Effect<(...texts: ReadonlyArray<string>) => ReadonlyArray<Emoji>>
  /**
   * Returns a function that finds the emoji of local or remote texts. Remote texts use emoji of their own server, which
   * one query loads for all sources.
   */
  readonly finderOf: (
    sources: ReadonlyArray<ForeignEmojis.EmojiSource>
  ) => Effect.Effect<(source: ForeignEmojis.EmojiSource) => ReadonlyArray<Emoji>>
}>()("murmuration/services/instance/CustomEmojis") {
  static readonly layer = Layer.effect(
    CustomEmojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig

      const toEmoji = ({ fileName, staticName, staticUrl, url, ...row }: Row): Emoji => {
        const address = fileName === null ? url ?? "" : Urls.file(config, fileName)
        const still = staticName === null ? staticUrl : Urls.file(config, staticName)
        return { ...row, url: address, staticUrl: still ?? address }
      }

      const stored = Effect.gen(function*() {
        const rows = yield* emojiRows(sql`
          SELECT id, shortcode, url, static_url, file_name, static_name, visible_in_picker, category, coalesce(updated_at, created_at) AS updated_at
          FROM custom_emojis
          WHERE domain IS NULL AND NOT disabled ORDER BY id LIMIT ${customEmojisMax}`)
        return new Map(rows.map((row) => [row.shortcode, toEmoji(row)]))
      }).pipe(Effect.orDie)
      const enabled = yield* single(
        { kinds: ["emojis"], millisMax: customEmojiMillisMax, aloneMillisMax: customEmojiAloneMillisMax },
        stored
      )

      const finder = Effect.map(enabled, (all) => (...texts: ReadonlyArray<string>) => {
        if (all.size === 0) return []
        const named = new Set(texts.flatMap((text) => Array.from(text.matchAll(shortcodes), (match) => match[1])))
        return [...named].flatMap((shortcode) => {
          const emoji = shortcode === undefined ? undefined : all.get(shortcode)
          return emoji === undefined ? [] : [emoji]
        })
      })

      return CustomEmojis.of({
        enabled: Effect.map(enabled, (all) => [...all.values()]).pipe(Effect.withSpan("CustomEmojis.enabled")),
        listed: Effect.map(enabled, (all) => [...all.values()].filter(({ visibleInPicker }) => visibleInPicker))
          .pipe(Effect.withSpan("CustomEmojis.listed")),
        finder,
        finderOf: traced("CustomEmojis.finderOf")(function*(sources) {
          const own = yield* finder
          const foreign = yield* ForeignEmojis.load(sql, config, sources)
          return (source: ForeignEmojis.EmojiSource) => source.local ? own(...source.texts) : foreign(source)
        }, Effect.orDie)
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
