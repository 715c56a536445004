import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { CustomEmojis } from "../instance/CustomEmojis.ts"
import { isUnicodeEmoji } from "../instance/Emoji.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { announcementReactionsMax } from "./Announcement.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))

/** Reactions to announcements, written in the transaction of their author's command. */
export class AnnouncementReactions extends Context.Service<AnnouncementReactions, {
  /** Adds a reaction by the name of an emoji; idempotent. */
  readonly add: (
    account: AccountId,
    announcement: bigint,
    name: string
  ) => Effect.Effect<void, RecordNotFound | SqlError | Unprocessable>
  readonly remove: (
    account: AccountId,
    announcement: bigint,
    name: string
  ) => Effect.Effect<void, RecordNotFound | SqlError>
}>()("murmuration/services/announcements/AnnouncementReactions") {
  static readonly layer = Layer.effect(
    AnnouncementReactions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const emojis = yield* CustomEmojis

      /** Serialises reactions to an announcement, so that the maximum holds. */
      const locked = Effect.fnUntraced(function*(announcement: bigint) {
        const [found] = yield* idRows(sql`SELECT id FROM announcements
          WHERE id = ${announcement} AND published_at IS NOT NULL FOR UPDATE`)
        if (found === undefined) return yield* new RecordNotFound()
      })
      const publishEvent = (announcementId: bigint, name: string) =>
        sql.afterCommit(broadcast.publish({ _tag: "AnnouncementReaction", announcementId, name }))

      return AnnouncementReactions.of({
        add: traced("AnnouncementReactions.add")(function*(account, announcement, name) {
          yield* locked(announcement)
          const own = (yield* emojis.enabled).find(({ shortcode }) => shortcode === name)
          if (own === undefined && !isUnicodeEmoji(name)) {
            return yield* validationFailed("Name is not a recognized emoji")
          }
          const names = yield* nameRows(sql`SELECT DISTINCT name FROM announcement_reactions
            WHERE announcement_id = ${announcement}`)
          if (names.length >= announcementReactionsMax && !names.some((one) => one.name === name)) {
            return yield* validationFailed("Limit of different reactions reached")
          }
          const added = yield* sql`INSERT INTO announcement_reactions
              (announcement_id, name, account_id, custom_emoji_id, created_at)
            VALUES (${announcement}, ${name}, ${account}, (SELECT id FROM custom_emojis
              WHERE id = ${own?.id ?? null} FOR KEY SHARE),
              ${new Date(yield* Clock.currentTimeMillis)})
            ON CONFLICT DO NOTHING RETURNING 1`
          if (added.length > 0) yield* publishEvent(announcement, name)
        }),
        remove: traced("AnnouncementReactions.remove")(function*(account, announcement, name) {
          yield* locked(announcement)
          const gone = yield* sql`DELETE FROM announcement_reactions
            WHERE announcement_id = ${announcement} AND account_id = ${account} AND name = ${name} RETURNING 1`
          if (gone.length === 0) return yield* new RecordNotFound()
          yield* publishEvent(announcement, name)
        })
      })
    })
  )
}
