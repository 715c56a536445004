import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Unprocessable, validationFailed } from "../Errors.ts"
import { instanceThumbnailDescriptionCharactersMax } from "../instance/ContentLimits.ts"
import {
  type InstanceThumbnail,
  instanceThumbnailOf,
  instanceThumbnailSetting as setting
} from "../instance/InstanceThumbnail.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import { transaction } from "../Transactions.ts"
import { FileOwners } from "./FileOwners.ts"
import { InstancePictures } from "./InstancePictures.ts"
import type { MediaRefused, MediaToolFailed, Source } from "./MediaTools.ts"
import { Storage, StorageFailed } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"

const settingRows = rowsOf(Schema.Struct({ value: Schema.Unknown }))

const types = new Set(["image/jpeg", "image/png", "image/webp", "image/avif"])

const namesOf = (thumbnail: InstanceThumbnail | null) =>
  thumbnail === null ? [] : [thumbnail.fileName, thumbnail.doubleName ?? []].flat()

/** The site's picture in previews, as its operator sets it. */
export class InstanceThumbnails extends Context.Service<InstanceThumbnails, {
  /** Puts a picture in the place of the one before. */
  readonly set: (source: Source, description: string) => Effect.Effect<
    void,
    Unprocessable | MediaRefused | MediaToolFailed | StorageFailed
  >
  /** The server's own picture is shown again. */
  readonly remove: Effect.Effect<void>
}>()("murmuration/services/media/InstanceThumbnails") {
  static readonly layerNoDeps = Layer.effect(
    InstanceThumbnails,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners
      const pictures = yield* InstancePictures
      const storage = yield* Storage

      const current = Effect.map(
        settingRows(sql`SELECT value FROM settings WHERE name = ${setting} FOR UPDATE`),
        ([row]) => instanceThumbnailOf(row?.value)
      )

      /** Answers the names of the files that are shown no longer. */
      const replace = Effect.fnUntraced(function*(thumbnail: InstanceThumbnail) {
        const old = namesOf(yield* current)
        yield* fileOwners.release(old)
        yield* sql`INSERT INTO settings (name, value, updated_at)
          VALUES (${setting}, ${JSON.stringify(thumbnail)}::jsonb, ${new Date(yield* Clock.currentTimeMillis)})
          ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
        if (!(yield* fileOwners.hold(namesOf(thumbnail), { setting }))) {
          return yield* new StorageFailed({ text: "The files were removed before the site had them" })
        }
        return old
      }, transaction(sql))

      const set = traced("InstanceThumbnails.set")(function*(source: Source, description: string) {
        if (!types.has(source.type.mime)) return yield* validationFailed("File content type is invalid")
        if (Array.from(description).length > instanceThumbnailDescriptionCharactersMax) {
          return yield* validationFailed(
            `Description is too long (maximum is ${instanceThumbnailDescriptionCharactersMax} characters)`
          )
        }
        const old = yield* Effect.scoped(Effect.gen(function*() {
          const { blurhash, double, single } = yield* pictures.thumbnail(source, yield* storage.folder)
          const fileName = yield* files.keep(single.extension, single.path, single.bytes)
          const doubleName = double === undefined
            ? null
            : yield* files.keep(double.extension, double.path, double.bytes)
          return yield* replace({ fileName, doubleName, blurhash, description })
        })).pipe(Effect.catchTag("SqlError", Effect.die))
        yield* files.discard(old)
      })

      const remove = Effect.gen(function*() {
        const old = yield* transaction(sql)(Effect.gen(function*() {
          const names = namesOf(yield* current)
          yield* fileOwners.release(names)
          yield* sql`DELETE FROM settings WHERE name = ${setting}`
          return names
        }))
        yield* files.discard(old)
      }).pipe(Effect.orDie, Effect.withSpan("InstanceThumbnails.remove"))

      return InstanceThumbnails.of({ set, remove })
    })
  )
  static readonly layer = InstanceThumbnails.layerNoDeps.pipe(Layer.provide([FileOwners.layer, StoredFiles.layer]))
}
