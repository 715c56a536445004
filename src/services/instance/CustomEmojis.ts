import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

export interface Emoji {
  readonly shortcode: string
  readonly url: string
  readonly staticUrl: string
  readonly visibleInPicker: boolean
  readonly category: string | null
}

/** Emoji of this server that are kept in memory, the oldest. */
export const customEmojisMax = 10_000
/** How long the set in memory is believed, in milliseconds. */
export const customEmojiMillisMax = 30_000

const shortcodes = /:([a-zA-Z0-9_]{2,128}):/g

/** This server's own emoji; remote ones belong to their accounts' servers. */
export class CustomEmojis extends Context.Service<CustomEmojis, {
  /** Enabled and listed ones (S-093, S-159). */
  readonly listed: Effect.Effect<ReadonlyArray<Emoji>>
  /** A function that finds the enabled emoji that texts name, unlisted ones too, each once. */
  readonly finder: Effect.Effect<(...texts: ReadonlyArray<string>) => ReadonlyArray<Emoji>>
}>()("murmuration/services/instance/CustomEmojis") {
  static readonly layer = Layer.effect(
    CustomEmojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const none: ReadonlyMap<string, Emoji> = new Map()
      let known = { loadedAt: Number.NEGATIVE_INFINITY, byShortcode: none }

      const enabled = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (now - known.loadedAt < customEmojiMillisMax && now >= known.loadedAt) return known.byShortcode
        const rows = yield* sql<Emoji>`
          SELECT shortcode, url, static_url, visible_in_picker, category FROM custom_emojis
          WHERE domain IS NULL AND NOT disabled ORDER BY id LIMIT ${customEmojisMax}`
        known = { loadedAt: now, byShortcode: new Map(rows.map((emoji) => [emoji.shortcode, emoji])) }
        return known.byShortcode
      }).pipe(Effect.orDie)

      return CustomEmojis.of({
        listed: Effect.map(enabled, (all) => [...all.values()].filter(({ visibleInPicker }) => visibleInPicker))
          .pipe(Effect.withSpan("CustomEmojis.listed")),
        finder: Effect.map(enabled, (all) => (...texts) => {
          if (all.size === 0) return []
          const named = new Set(texts.flatMap((text) => Array.from(text.matchAll(shortcodes), (match) => match[1])))
          return [...named].flatMap((shortcode) => {
            const emoji = shortcode === undefined ? undefined : all.get(shortcode)
            return emoji === undefined ? [] : [emoji]
          })
        })
      })
    })
  )
}
