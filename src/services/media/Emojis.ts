import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../Broadcast.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../Errors.ts"
import { idRows, rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { FileOwners } from "./FileOwners.ts"
import { InstancePictures } from "./InstancePictures.ts"
import type { MediaRefused, MediaToolFailed, Source } from "./MediaTools.ts"
import { Storage, StorageFailed } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"

const removedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, fileName: Schema.NullOr(Schema.String), staticName: Schema.NullOr(Schema.String) })
)

/** Types of pictures that an emoji may be (limits-and-rates.md section 1). */
const types = new Set(["image/png", "image/gif", "image/webp"])
const shortcodePattern = /^[A-Za-z0-9_]{2,128}$/

const NewEmoji = Schema.Struct({
  shortcode: Schema.String,
  category: Schema.NullOr(Schema.String),
  /** Not listed, it can be written but is not offered. */
  listed: Schema.Boolean
})
type NewEmoji = typeof NewEmoji.Type

const KeptEmoji = Schema.Struct({
  ...NewEmoji.fields,
  disabled: Schema.Boolean,
  bytes: Schema.Int
})
type KeptEmoji = typeof KeptEmoji.Type
const emojiRows = rowsOf(KeptEmoji)

type Failure = Unprocessable | MediaRefused | MediaToolFailed | StorageFailed

/** This server's own emoji as its operator keeps them; servers that run show a change at once. */
export class Emojis extends Context.Service<Emojis, {
  readonly add: (emoji: NewEmoji, source: Source) => Effect.Effect<void, Failure>
  /** All of them, by category and name. */
  readonly list: Effect.Effect<ReadonlyArray<KeptEmoji>>
  /** A disabled emoji is shown nowhere, and its file is kept. */
  readonly setDisabled: (shortcode: string, disabled: boolean) => Effect.Effect<void, RecordNotFound>
  readonly remove: (shortcode: string) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/media/Emojis") {
  static readonly layerNoDeps = Layer.effect(
    Emojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners
      const pictures = yield* InstancePictures
      const storage = yield* Storage

      const changed = (rows: ReadonlyArray<{ readonly id: bigint }>) =>
        broadcast.publish({ _tag: "Changed", kind: "emojis", ids: rows.map(({ id }) => id) })
      const own = (shortcode: string) => sql`shortcode = ${shortcode} AND domain IS NULL`
      const swept = new StorageFailed({ text: "The files were removed before the emoji had them" })
      const taken = validationFailed("Shortcode has already been taken")

      const enter = Effect.fnUntraced(
        function*({ category, listed, shortcode }: NewEmoji, fileName: string, staticName: string | null) {
          const millis = yield* Clock.currentTimeMillis
          const [row] = yield* idRows(sql`
            INSERT INTO custom_emojis (id, shortcode, file_name, static_name, visible_in_picker, category, created_at)
            VALUES (next_id(${millis}), ${shortcode}, ${fileName}, ${staticName}, ${listed}, ${category},
              ${new Date(millis)})
            ON CONFLICT DO NOTHING RETURNING id`)
          if (row === undefined) return yield* taken
          const names = staticName === null ? [fileName] : [fileName, staticName]
          if (!(yield* fileOwners.hold(names, { emojiId: row.id }))) return yield* swept
          yield* sql.afterCommit(changed([row]))
        }
      )

      const add = traced("Emojis.add")(function*(emoji: NewEmoji, source: Source) {
        if (!shortcodePattern.test(emoji.shortcode)) return yield* validationFailed("Shortcode is invalid")
        if (!types.has(source.type.mime)) return yield* validationFailed("Image content type is invalid")
        const there = yield* Effect.orDie(sql`SELECT id FROM custom_emojis WHERE ${own(emoji.shortcode)}`)
        if (there.length > 0) return yield* taken
        yield* Effect.scoped(Effect.gen(function*() {
          const { moving, still } = yield* pictures.emoji(source, yield* storage.folder)
          const fileName = yield* files.keep(moving.extension, moving.path, moving.bytes)
          const staticName = still === undefined ? null : yield* files.keep(still.extension, still.path, still.bytes)
          yield* transaction(sql)(enter(emoji, fileName, staticName)).pipe(
            Effect.onError(() => files.discard(staticName === null ? [fileName] : [fileName, staticName]))
          )
        })).pipe(Effect.catchTag("SqlError", Effect.die))
      })

      const list = emojiRows(sql`
        SELECT e.shortcode, e.category, e.visible_in_picker AS listed, e.disabled,
          coalesce((SELECT sum(f.bytes) FROM stored_files f WHERE f.emoji_id = e.id), 0)::int AS bytes
        FROM custom_emojis e WHERE e.domain IS NULL ORDER BY e.category NULLS FIRST, e.shortcode`).pipe(
        Effect.orDie,
        Effect.withSpan("Emojis.list")
      )

      const setDisabled = traced("Emojis.setDisabled")(function*(shortcode: string, disabled: boolean) {
        const rows = yield* Effect.orDie(idRows(sql`
          UPDATE custom_emojis SET disabled = ${disabled} WHERE ${own(shortcode)} RETURNING id`))
        if (rows.length === 0) return yield* new RecordNotFound()
        yield* changed(rows)
      })

      const remove = traced("Emojis.remove")(function*(shortcode: string) {
        // The reactions with it go, too.
        yield* Effect.orDie(sql`UPDATE status_stats s SET reactions_count = s.reactions_count - c.count
          FROM emoji_reaction_counts c JOIN custom_emojis e ON e.id = c.custom_emoji_id
          WHERE c.status_id = s.status_id AND e.id IN (SELECT id FROM custom_emojis WHERE ${own(shortcode)})`)
        const rows = yield* Effect.orDie(removedRows(sql`
          DELETE FROM custom_emojis WHERE ${own(shortcode)} RETURNING id, file_name, static_name`))
        if (rows.length === 0) return yield* new RecordNotFound()
        yield* changed(rows)
        yield* files.discard(rows.flatMap(({ fileName, staticName }) => [fileName ?? [], staticName ?? []].flat()))
      })

      return Emojis.of({ add, list, setDisabled, remove })
    })
  )
  static readonly layer = Emojis.layerNoDeps.pipe(Layer.provide([FileOwners.layer, StoredFiles.layer]))
}
