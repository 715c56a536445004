import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf, Timestamptz } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"
import type { ForeignEmoji } from "../documents/ForeignEmoji.ts"

/** Maximum emoji stored per host; texts show further ones as plain shortcodes. */
export const hostEmojisMax = 20_000

const Row = Schema.Struct({
  shortcode: Schema.String,
  url: Schema.NullOr(Schema.String),
  updatedAt: Schema.NullOr(Timestamptz)
})
type Row = typeof Row.Type
const emojiRows = rowsOf(Row)

/**
 * Returns true for a new or changed emoji. It may have a new picture at the same URL, or arrive late with an old one.
 */
const isNews = (now: number) => (emoji: ForeignEmoji, known: Row | undefined): boolean => {
  if (known === undefined) return true
  // A future date would suppress all later changes, so it is ignored.
  const [updated, before] = [emoji.updatedMillis, known.updatedAt?.getTime()].map((millis) =>
    millis === undefined || millis > now ? undefined : millis
  )
  if (updated === undefined || before === undefined) {
    return known.url !== emoji.url || (updated !== undefined && before === undefined)
  }
  return updated > before || (updated === before && known.url !== emoji.url)
}

/**
 * Emoji of other servers by host: no host can define another one's emoji. Pictures are fetched when they are first
 * viewed (`RemoteFiles`).
 */
export class RemoteEmojis extends Context.Service<RemoteEmojis, {
  /** Stores new and changed emoji, in the current transaction. */
  readonly keep: (host: string, emojis: ReadonlyArray<ForeignEmoji>) => Effect.Effect<void, SqlError>
}>()("murmuration/services/federation/inbox/RemoteEmojis") {
  static readonly layer = Layer.effect(
    RemoteEmojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const isFull = (host: string) =>
        Effect.map(
          sql`SELECT FROM custom_emojis WHERE domain = ${host} OFFSET ${hostEmojisMax - 1} LIMIT 1`,
          (rows) => rows.length > 0
        )

      const keep = traced("RemoteEmojis.keep")(function*(host: string, emojis: ReadonlyArray<ForeignEmoji>) {
        if (emojis.length === 0) return
        const rows = yield* emojiRows(sql`SELECT shortcode, url, updated_at FROM custom_emojis
          WHERE domain = ${host} AND shortcode = ANY (${emojis.map(({ shortcode }) => shortcode)}::text[])`)
        const known = new Map(rows.map((row) => [row.shortcode, row]))
        const now = yield* Clock.currentTimeMillis
        const isChanged = isNews(now)
        const changed = emojis.filter((emoji) => isChanged(emoji, known.get(emoji.shortcode)))
        const full = changed.some(({ shortcode }) => !known.has(shortcode)) && (yield* isFull(host))
        // In a fixed order, as concurrent transactions may write the same rows.
        const allowed = changed.filter(({ shortcode }) => !full || known.has(shortcode))
          .toSorted((a, b) => a.shortcode < b.shortcode ? -1 : 1)
        if (allowed.length === 0) return
        const values = JSON.stringify(allowed.map(({ shortcode, updatedMillis, url }) => ({
          shortcode,
          url,
          updated: updatedMillis === undefined || updatedMillis > now ? null : new Date(updatedMillis)
        })))
        yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, visible_in_picker, created_at,
            updated_at, refreshed_at)
          SELECT next_id(${now}), shortcode, ${host}, url, url, true, ${new Date(now)}, updated, ${new Date(now)}
          FROM jsonb_to_recordset(${values}::jsonb) AS given (shortcode text, url text, updated timestamptz)
          ON CONFLICT (shortcode, coalesce(domain, '')) DO UPDATE SET url = excluded.url, static_url = excluded.static_url,
            updated_at = excluded.updated_at, refreshed_at = excluded.refreshed_at`
      })
      return RemoteEmojis.of({ keep })
    })
  )
}
