import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { customEmojisMax } from "../instance/CustomEmojis.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { FileOwners } from "./FileOwners.ts"
import { InstancePictures } from "./InstancePictures.ts"
import type { MediaRefused, MediaToolFailed, Source } from "./MediaTools.ts"
import { Storage, StorageFailed } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"

const removedRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, fileName: Schema.NullOr(Schema.String), staticName: Schema.NullOr(Schema.String) })
)

/** Image types of emoji (limits-and-rates.md section 1). */
const types = new Set(["image/png", "image/gif", "image/webp"])
const shortcodePattern = /^[A-Za-z0-9_]{2,128}$/

const NewEmoji = Schema.Struct({
  shortcode: Schema.String,
  category: Schema.NullOr(Schema.String),
  /** False: usable, but not offered in pickers. */
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
const lockedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, ...NewEmoji.fields, disabled: Schema.Boolean }))

type Failure = NotAllowed | Unprocessable | MediaRefused | MediaToolFailed | StorageFailed
type By = AccountId | undefined
/** Shortcode or id. */
type Which = bigint | string

/** Maximum characters of a category. */
const categoryCharactersMax = 100

/** Changes of an emoji; absent fields are kept. */
interface EmojiChange {
  readonly category?: string | null | undefined
  readonly listed?: boolean | undefined
  readonly disabled?: boolean | undefined
}

/** Custom emoji of this server; running servers show changes at once. `by` is undefined for the command line. */
export class Emojis extends Context.Service<Emojis, {
  /** Returns the emoji's id; `copied` if it comes from another server. */
  readonly add: (by: By, emoji: NewEmoji, source: Source, copied?: boolean) => Effect.Effect<bigint, Failure>
  /** All custom emoji, by category and shortcode. */
  readonly list: Effect.Effect<ReadonlyArray<KeptEmoji>>
  /** Changes an emoji. A disabled one is not shown anywhere, but keeps its file. */
  readonly change: (
    by: By,
    which: Which,
    change: EmojiChange
  ) => Effect.Effect<void, NotAllowed | RecordNotFound | Unprocessable>
  readonly remove: (by: By, which: Which) => Effect.Effect<void, NotAllowed | RecordNotFound>
}>()("murmuration/services/media/Emojis") {
  static readonly layerNoDeps = Layer.effect(
    Emojis,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const standing = requirePermission(sql)
      const tracked = yield* RowChanges.make
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners
      const pictures = yield* InstancePictures
      const storage = yield* Storage

      const permitted = (by: By) => by === undefined ? Effect.void : standing(by, "manageCustomEmojis")
      const own = (which: Which) =>
        typeof which === "string"
          ? sql`shortcode = ${which} AND domain IS NULL`
          : sql`id = ${which} AND domain IS NULL`
      const swept = new StorageFailed({ text: "The files were removed before the emoji had them" })
      const taken = validationFailed("Shortcode has already been taken")

      const enter = Effect.fnUntraced(
        function*(
          by: By,
          { category, listed, shortcode }: NewEmoji,
          fileName: string,
          staticName: string | null,
          copied: boolean
        ) {
          yield* permitted(by)
          const millis = yield* Clock.currentTimeMillis
          const counted = sql`domain IS NULL`
          yield* requireCapacity(sql, { table: "custom_emojis", name: "Emojis", max: customEmojisMax, counted })
          const [row] = yield* idRows(
            tracked("emojis")(sql`
            INSERT INTO custom_emojis (id, shortcode, file_name, static_name, visible_in_picker, category, created_at)
            VALUES (next_id(${millis}), ${shortcode}, ${fileName}, ${staticName}, ${listed}, ${category},
              ${new Date(millis)})
            ON CONFLICT DO NOTHING RETURNING id`)
          )
          if (row === undefined) return yield* taken
          const names = staticName === null ? [fileName] : [fileName, staticName]
          if (!(yield* fileOwners.hold(names, { emojiId: row.id }))) return yield* swept
          yield* audit.record({
            by,
            action: copied ? "copy" : "create",
            target: { type: "customEmoji", id: row.id, label: shortcode },
            after: { category, listed }
          })
          return row.id
        }
      )

      const add = traced("Emojis.add")(function*(
        by: By,
        emoji: NewEmoji,
        source: Source,
        copied = false
      ) {
        yield* categoryChecked(emoji.category)
        if (!shortcodePattern.test(emoji.shortcode)) return yield* validationFailed("Shortcode is invalid")
        if (!types.has(source.type.mime)) return yield* validationFailed("Image content type is invalid")
        const existing = yield* Effect.orDie(sql`SELECT id FROM custom_emojis WHERE ${own(emoji.shortcode)}`)
        if (existing.length > 0) return yield* taken
        return yield* Effect.scoped(Effect.gen(function*() {
          const { animated, still } = yield* pictures.emoji(source, yield* storage.folder)
          const fileName = yield* files.keep(animated.extension, animated.path, animated.bytes)
          const staticName = still === undefined ? null : yield* files.keep(still.extension, still.path, still.bytes)
          return yield* transaction(sql)(enter(by, emoji, fileName, staticName, copied)).pipe(
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

      const locked = Effect.fnUntraced(function*(which: Which) {
        const [found] = yield* lockedRows(sql`SELECT id, shortcode, category, visible_in_picker AS listed, disabled
          FROM custom_emojis WHERE ${own(which)} FOR UPDATE`)
        return found ?? (yield* new RecordNotFound())
      })
      const change = Effect.fnUntraced(
        function*(by: By, which: Which, given: EmojiChange) {
          yield* permitted(by)
          const { id, shortcode, ...before } = yield* locked(which)
          const after = {
            category: given.category === undefined ? before.category : given.category?.trim() || null,
            listed: given.listed ?? before.listed,
            disabled: given.disabled ?? before.disabled
          }
          yield* categoryChecked(after.category)
          yield* tracked("emojis")(
            sql`UPDATE custom_emojis SET category = ${after.category}, visible_in_picker = ${after.listed},
            disabled = ${after.disabled} WHERE id = ${id}`
          )
          const action = after.disabled === before.disabled ? "update" : after.disabled ? "disable" : "enable"
          yield* audit.record({ by, action, target: { type: "customEmoji", id, label: shortcode }, before, after })
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )

      const remove = Effect.fnUntraced(
        function*(by: By, which: Which) {
          yield* permitted(by)
          const { id, shortcode, ...before } = yield* locked(which)
          // Reactions with the emoji are deleted, too.
          yield* sql`UPDATE status_stats s SET reactions_count = s.reactions_count - c.count
            FROM emoji_reaction_counts c WHERE c.status_id = s.status_id AND c.custom_emoji_id = ${id}`
          const rows = yield* removedRows(
            tracked("emojis")(sql`DELETE FROM custom_emojis WHERE id = ${id}
            RETURNING id, file_name, static_name`)
          )
          yield* audit.record({
            by,
            action: "destroy",
            target: { type: "customEmoji", id, label: shortcode },
            before
          })
          const names = rows.flatMap(({ fileName, staticName }) => [fileName ?? [], staticName ?? []].flat())
          yield* sql.afterCommit(files.discard(names))
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )

      return Emojis.of({
        add,
        list,
        change: traced("Emojis.change")(change),
        remove: traced("Emojis.remove")(remove)
      })
    })
  )
  static readonly layer = Emojis.layerNoDeps.pipe(
    Layer.provide([AuditLog.layer, FileOwners.layer, StoredFiles.layer])
  )
}

const categoryChecked = (category: string | null) =>
  hasMoreCharacters(category ?? "", categoryCharactersMax)
    ? validationFailed(`Category is too long (maximum is ${categoryCharactersMax} characters)`)
    : Effect.void
