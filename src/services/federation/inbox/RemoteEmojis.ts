import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { traced } from "../../runtime/Traced.ts"
import type { ForeignEmoji } from "../documents/ForeignEmoji.ts"

/** Maximum emoji stored per host; texts show further ones as plain shortcodes. */
export const hostEmojisMax = 20_000
/** Free places from which on the count is locked; more than all concurrent transactions of a host can add. */
const nearBound = 2_000

const Row = Schema.Struct({
  shortcode: Schema.String,
  url: Schema.NullOr(Schema.String),
  updatedAt: Schema.NullOr(Timestamptz)
})
type Row = typeof Row.Type
const emojiRows = rowsOf(Row)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))
const lockRows = rowsOf(Schema.Struct({ locked: Schema.Boolean }))

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

      const counted = (host: string) =>
        Effect.map(
          countRows(sql`SELECT count(*)::int AS count FROM (
            SELECT FROM custom_emojis WHERE domain = ${host} LIMIT ${rowsMax(sql, hostEmojisMax)}) known`),
          (rows) => singleRow(rows).count
        )

      /**
       * Returns how many further emoji of a host may be stored. Near the bound only one transaction at a time stores some,
       * and none waits: another one may have locked rows that this one needs.
       */
      const roomOf = Effect.fnUntraced(function*(host: string) {
        const count = yield* counted(host)
        if (count < hostEmojisMax - nearBound) return hostEmojisMax - count
        const { locked } = singleRow(
          yield* lockRows(sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${`emoji of ${host}`}, 0)) AS locked`)
        )
        return locked ? hostEmojisMax - (yield* counted(host)) : 0
      })

      const keep = traced("RemoteEmojis.keep")(function*(host: string, emojis: ReadonlyArray<ForeignEmoji>) {
        if (emojis.length === 0) return
        const rows = yield* emojiRows(sql`SELECT shortcode, url, updated_at FROM custom_emojis
          WHERE domain = ${host} AND shortcode = ANY (${emojis.map(({ shortcode }) => shortcode)}::text[])`)
        const known = new Map(rows.map((row) => [row.shortcode, row]))
        const now = yield* Clock.currentTimeMillis
        const isChanged = isNews(now)
        const changed = emojis.filter((emoji) => isChanged(emoji, known.get(emoji.shortcode)))
        const added = changed.filter(({ shortcode }) => !known.has(shortcode))
        const stored = added.length === 0 ? [] : added.slice(0, yield* roomOf(host))
        // In a fixed order, as concurrent transactions may write the same rows.
        const allowed = [...changed.filter(({ shortcode }) => known.has(shortcode)), ...stored]
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
