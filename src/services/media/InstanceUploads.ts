import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { instanceThumbnailDescriptionCharactersMax } from "../instance/ContentLimits.ts"
import {
  appIconEdges,
  faviconEdges,
  type InstanceIcon,
  type InstancePictureKind,
  type InstanceThumbnail,
  pictureSettings
} from "../instance/PictureSettings.ts"
import { type NotAllowed, Unavailable, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { FileOwners } from "./FileOwners.ts"
import { InstancePictures } from "./InstancePictures.ts"
import type { MediaRefused, MediaToolFailed, Source } from "./MediaTools.ts"
import { Storage, StorageFailed } from "./Storage.ts"
import { StoredFiles } from "./StoredFiles.ts"
import type { Upload } from "./Uploads.ts"

const nameRows = rowsOf(Schema.Struct({ name: Schema.String }))
const valueRows = rowsOf(Schema.Struct({ value: Schema.Unknown }))

const types = new Set(["image/jpeg", "image/png", "image/webp", "image/avif"])

/** Images of the instance, set by staff and re-encoded in the displayed sizes. */
export class InstanceUploads extends Context.Service<InstanceUploads, {
  /** Replaces an image; `by` is undefined for the command line. */
  readonly set: (
    by: AccountId | undefined,
    kind: InstancePictureKind,
    source: Source,
    description: string
  ) => Effect.Effect<
    void,
    NotAllowed | Unprocessable | MediaRefused | MediaToolFailed | StorageFailed
  >
  /** Replaces an image by a request's upload; fails without one. */
  readonly receive: (
    by: AccountId,
    kind: InstancePictureKind,
    upload: Upload | undefined,
    description: string
  ) => Effect.Effect<void, NotAllowed | Unavailable | Unprocessable>
  /** Restores the default image; returns true if another one was set. */
  readonly remove: (by: AccountId | undefined, kind: InstancePictureKind) => Effect.Effect<boolean, NotAllowed>
}>()("murmuration/services/media/InstanceUploads") {
  static readonly layerNoDeps = Layer.effect(
    InstanceUploads,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const tracked = yield* RowChanges.make
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners
      const pictures = yield* InstancePictures
      const storage = yield* Storage
      const standing = requirePermission(sql)

      /** Writes the audit log, and publishes the change after the commit. */
      const recorded = Effect.fnUntraced(
        function*(by: AccountId | undefined, setting: string, before: unknown, after: unknown) {
          yield* audit.record({
            by,
            action: "update",
            target: { type: "settings", label: setting },
            before: { [setting]: before ?? null },
            after: { [setting]: after ?? null }
          })
        }
      )
      const held = (setting: string) =>
        Effect.map(
          nameRows(sql`SELECT name FROM stored_files WHERE setting = ${setting}`),
          (rows) => rows.map(({ name }) => name)
        )
      const before = (setting: string) =>
        Effect.map(valueRows(sql`SELECT value FROM settings WHERE name = ${setting} FOR UPDATE`), ([row]) => row)

      /** Replaces the stored setting and its files; returns the names of the former files. */
      const replace = Effect.fnUntraced(
        function*(
          by: AccountId | undefined,
          setting: string,
          names: ReadonlyArray<string>,
          value: InstanceThumbnail | InstanceIcon
        ) {
          if (by !== undefined) yield* standing(by, "manageSettings")
          const old = yield* before(setting)
          // Concurrent changes wait here, and then find the files of the first one.
          yield* tracked("instance")(sql`INSERT INTO settings (name, value, updated_at)
            VALUES (${setting}, ${JSON.stringify(value)}::jsonb, ${new Date(yield* Clock.currentTimeMillis)})
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`)
          const previous = yield* held(setting)
          yield* fileOwners.release(previous)
          if (!(yield* fileOwners.hold(names, { setting }))) {
            return yield* new StorageFailed({ text: "The files were removed before the site had them" })
          }
          yield* recorded(by, setting, old?.value, value)
          return previous
        },
        transaction(sql)
      )

      /** Renders and stores the images of one kind; returns their names and the setting's value. */
      const renderPicture = Effect.fnUntraced(
        function*(kind: InstancePictureKind, source: Source, description: string) {
          const folder = yield* storage.folder
          if (kind === "thumbnail") {
            const { blurhash, double, single } = yield* pictures.thumbnail(source, folder)
            const fileName = yield* files.keep(single.extension, single.path, single.bytes)
            const doubleName = double === undefined
              ? null
              : yield* files.keep(double.extension, double.path, double.bytes)
            const value: InstanceThumbnail = { fileName, doubleName, blurhash, description }
            return { names: doubleName === null ? [fileName] : [fileName, doubleName], value }
          }
          const icons = yield* pictures.icons(source, folder, kind === "favicon" ? faviconEdges : appIconEdges)
          const names: Record<string, string> = {}
          for (const { edge, rendition } of icons) {
            names[String(edge)] = yield* files.keep(rendition.extension, rendition.path, rendition.bytes)
          }
          const value: InstanceIcon = { names }
          return { names: Object.values(names), value }
        }
      )

      const set = traced("InstanceUploads.set")(
        function*(by: AccountId | undefined, kind: InstancePictureKind, source: Source, given: string) {
          if (!types.has(source.type.mime)) return yield* validationFailed("File content type is invalid")
          const description = given.replaceAll("\0", "").trim()
          if (hasMoreCharacters(description, instanceThumbnailDescriptionCharactersMax)) {
            return yield* validationFailed(
              `Description is too long (maximum is ${instanceThumbnailDescriptionCharactersMax} characters)`
            )
          }
          const old = yield* Effect.scoped(Effect.gen(function*() {
            const { names, value } = yield* renderPicture(kind, source, description)
            return yield* replace(by, pictureSettings[kind], names, value)
          })).pipe(Effect.catchTag("SqlError", Effect.die))
          yield* files.discard(old)
        }
      )

      const receive: InstanceUploads["Service"]["receive"] = traced("InstanceUploads.receive")(
        function*(by, kind, upload, description) {
          if (upload === undefined || upload.bytes === 0) return yield* validationFailed("File can't be blank")
          const { name, type } = upload
          if (type === undefined) return yield* validationFailed("File content type is invalid")
          yield* Effect.scoped(
            Effect.flatMap(storage.local(name), (path) => set(by, kind, { path, type }, description))
          ).pipe(Effect.catchTags({
            MediaRefused: ({ text }) => validationFailed(`File ${text}`),
            MediaToolFailed: () => validationFailed("File is invalid"),
            StorageFailed: (error) =>
              Effect.andThen(
                Effect.logError("an image of the site could not be stored", error),
                Effect.fail(new Unavailable())
              )
          }))
        }
      )

      const remove = traced("InstanceUploads.remove")(function*(by: AccountId | undefined, kind: InstancePictureKind) {
        const setting = pictureSettings[kind]
        const previous = yield* transaction(sql)(Effect.gen(function*() {
          if (by !== undefined) yield* standing(by, "manageSettings")
          const old = yield* before(setting)
          if (old === undefined) return undefined
          const names = yield* held(setting)
          yield* fileOwners.release(names)
          yield* tracked("instance")(sql`DELETE FROM settings WHERE name = ${setting}`)
          yield* recorded(by, setting, old.value, null)
          return names
        })).pipe(Effect.catchTag("SqlError", Effect.die))
        yield* files.discard(previous ?? [])
        return previous !== undefined
      })

      return InstanceUploads.of({ set, receive, remove })
    })
  )
  static readonly layer = InstanceUploads.layerNoDeps.pipe(
    Layer.provide([AuditLog.layer, FileOwners.layer, StoredFiles.layer])
  )
}
