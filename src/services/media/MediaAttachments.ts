import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { exceeds } from "../html/Text.ts"
import { mediaDescriptionCharactersMax } from "../instance/ContentLimits.ts"
import { Conflict, RecordNotFound, Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { currentTraceParent } from "../runtime/TraceParents.ts"
import { FileOwners } from "./FileOwners.ts"
import type { FileKind } from "./FileTypes.ts"
import { type Colors, MediaRecord, type MediaType, recordOf, type Size } from "./MediaRecord.ts"
import { StoredFiles } from "./StoredFiles.ts"
import type { Upload } from "./Uploads.ts"

const mediaRows = rowsOf(Schema.Struct({ media: MediaRecord, error: Schema.NullOr(Schema.String) }))
const previewRows = rowsOf(Schema.Struct({ previewName: Schema.NullOr(Schema.String) }))
const thumbnailRows = rowsOf(Schema.Struct({ state: Schema.String, thumbnailName: Schema.NullOr(Schema.String) }))
const namesRows = rowsOf(Schema.Struct({ names: Schema.Array(Schema.String) }))

/** Maximum time without a post, in milliseconds; then the file is deleted. And maximum files of one sweep. */
const unattachedMillisMax = 86_400_000
const sweptMediaMax = 200

/** Focal point for cropping, each from -1 to 1; 0 is the centre. */
export interface Focus {
  readonly x: number
  readonly y: number
}

export interface MediaText {
  /** Null removes it. */
  readonly description?: string | null
  readonly focus?: Focus
}

/** A stored image shown before a file is played. */
export interface Preview {
  readonly previewName: string
  readonly size: Size
  readonly blurhash: string
  readonly colors: Colors
}

/** SQL expression: the `meta` of a row with this preview. Players show audio and video in the colours of the cover. */
export const metaWith = (sql: SqlClient.SqlClient, { colors, size }: Preview) =>
  sql`meta || ${JSON.stringify({ small: size })}::jsonb
    || CASE WHEN type IN ('audio', 'video', 'gifv') THEN ${JSON.stringify({ colors })}::jsonb ELSE '{}' END`

interface NewMedia extends MediaText {
  readonly upload: Upload
  readonly thumbnail: Upload | undefined
}

/** Files uploaded by accounts, private until attached to a post. Media jobs and posts change them in other services. */
export class MediaAttachments extends Context.Service<MediaAttachments, {
  /** Adds a file to be processed; its type is known. Returns the attachment's id. */
  readonly create: (owner: AccountId, media: NewMedia) => Effect.Effect<bigint, Conflict | Unprocessable>
  /** Returns the owner's file if it is not attached to a post. */
  readonly find: (
    owner: AccountId,
    id: bigint
  ) => Effect.Effect<MediaRecord & { readonly error: string | null }, RecordNotFound>
  /** Changes description and focus if the file is not attached to a post (S-070). */
  readonly change: (
    owner: AccountId,
    id: bigint,
    text: MediaText
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /** Replaces the preview by a stored image; fails with `Conflict` if the image was deleted in the meantime. */
  readonly showPreview: (
    owner: AccountId,
    id: bigint,
    preview: Preview
  ) => Effect.Effect<void, Conflict | RecordNotFound>
  /**
   * Sets the preview of a file that is still being processed. Returns false if the file is ready; then use
   * `showPreview`.
   */
  readonly setPendingPreview: (
    owner: AccountId,
    id: bigint,
    picture: Upload
  ) => Effect.Effect<boolean, RecordNotFound | Conflict>
  readonly remove: (owner: AccountId, id: bigint) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /** Deletes files that were without a post for a day; returns how many. */
  readonly sweep: Effect.Effect<number>
}>()("murmuration/services/media/MediaAttachments") {
  static readonly layerNoDeps = Layer.effect(
    MediaAttachments,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners

      const create = traced("MediaAttachments.create")(function*(owner: AccountId, media: NewMedia) {
        const { thumbnail, upload } = media
        const text = yield* columnsOf(media)
        const millis = yield* Clock.currentTimeMillis
        const at = new Date(millis)
        const type = upload.type === undefined ? "unknown" : typeOf[upload.type.kind]
        return yield* Effect.gen(function*() {
          const { id } = singleRow(
            yield* idRows(sql`
            INSERT INTO media_attachments (id, account_id, type, state, description, focus_x, focus_y, upload_name,
              upload_type, thumbnail_name, thumbnail_type, created_at, touched_at, trace_parent)
            VALUES (next_id(${millis}), ${owner}, ${type}, 'queued', ${text.description ?? null}, ${
              text.focusX ?? null
            },
              ${text.focusY ?? null}, ${upload.name}, ${upload.type?.mime ?? null}, ${thumbnail?.name ?? null},
              ${thumbnail?.type?.mime ?? null}, ${at}, ${at}, ${yield* currentTraceParent}) RETURNING id`)
          )
          const names = thumbnail === undefined ? [upload.name] : [upload.name, thumbnail.name]
          return (yield* fileOwners.hold(names, { mediaId: id })) ? id : yield* new Conflict()
        }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
      })

      const find = traced("MediaAttachments.find")(function*(owner: AccountId, id: bigint) {
        const [row] = yield* mediaRows(sql`
          SELECT ${recordOf(sql)} AS media, error FROM media_attachments m
          WHERE id = ${id} AND account_id = ${owner} AND status_id IS NULL`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : { ...row.media, error: row.error }
      })

      const change = traced("MediaAttachments.change")(function*(owner: AccountId, id: bigint, text: MediaText) {
        const columns = yield* columnsOf(text)
        if (Object.keys(columns).length === 0) return yield* Effect.asVoid(find(owner, id))
        const rows = yield* sql`UPDATE media_attachments SET ${sql.update(columns)}
          WHERE id = ${id} AND account_id = ${owner} AND status_id IS NULL RETURNING id`.pipe(Effect.orDie)
        if (rows.length === 0) return yield* new RecordNotFound()
      })

      const showPreview: MediaAttachments["Service"]["showPreview"] = traced("MediaAttachments.showPreview")(
        function*(owner, id, preview) {
          const { blurhash, previewName } = preview
          const old = yield* Effect.gen(function*() {
            const [row] = yield* previewRows(sql`SELECT preview_name FROM media_attachments
              WHERE id = ${id} AND account_id = ${owner} AND status_id IS NULL AND state = 'ready' FOR UPDATE`)
            if (row === undefined) return yield* new RecordNotFound()
            const names = row.previewName === null ? [] : [row.previewName]
            yield* fileOwners.release(names)
            if (!(yield* fileOwners.hold([previewName], { mediaId: id }))) return yield* new Conflict()
            yield* sql`UPDATE media_attachments SET preview_name = ${previewName}, blurhash = ${blurhash},
              meta = ${metaWith(sql, preview)} WHERE id = ${id}`
            return names
          }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
          yield* files.discard(old)
        }
      )

      const setPendingPreview = traced("MediaAttachments.setPendingPreview")(
        function*(owner: AccountId, id: bigint, picture: Upload) {
          const old = yield* Effect.gen(function*() {
            const [row] = yield* thumbnailRows(sql`
            SELECT state, thumbnail_name FROM media_attachments
            WHERE id = ${id} AND account_id = ${owner} AND status_id IS NULL FOR UPDATE`)
            if (row === undefined) return yield* new RecordNotFound()
            if (row.state !== "queued" && row.state !== "processing") return undefined
            const names = row.thumbnailName === null ? [] : [row.thumbnailName]
            yield* fileOwners.release(names)
            if (!(yield* fileOwners.hold([picture.name], { mediaId: id }))) return yield* new Conflict()
            yield* sql`UPDATE media_attachments SET thumbnail_name = ${picture.name},
            thumbnail_type = ${picture.type?.mime ?? null} WHERE id = ${id}`
            return names
          }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
          if (old === undefined) return false
          yield* files.discard(old)
          return true
        }
      )

      /** Deletes the rows that `where` selects, and their files. */
      const erase = Effect.fnUntraced(function*(where: Fragment) {
        const rows = yield* namesRows(sql`WITH gone AS (
            DELETE FROM media_attachments m WHERE ${where} RETURNING id)
          SELECT ARRAY(SELECT name FROM stored_files f WHERE f.media_id = gone.id) AS names FROM gone`)
        yield* files.discard(rows.flatMap(({ names }) => names))
        return rows.length
      })

      const remove = traced("MediaAttachments.remove")(function*(owner: AccountId, id: bigint) {
        const removed = yield* Effect.orDie(erase(
          sql`m.id = ${id} AND m.account_id = ${owner} AND m.status_id IS NULL AND m.scheduled_status_id IS NULL`
        ))
        if (removed > 0) return
        const own = yield* sql`SELECT id FROM media_attachments WHERE id = ${id} AND account_id = ${owner}`.pipe(
          Effect.orDie
        )
        return yield* own.length === 0
          ? new RecordNotFound()
          : new Unprocessable({ text: "Media attachment is currently used by a status" })
      })

      const sweep = Effect.gen(function*() {
        const before = new Date((yield* Clock.currentTimeMillis) - unattachedMillisMax)
        const unattached = sql`status_id IS NULL AND scheduled_status_id IS NULL AND touched_at < ${before}`
        // Repeats the condition: if a post takes the row in the meantime, Postgres rechecks only the outer one.
        return yield* erase(sql`m.id IN (SELECT id FROM media_attachments WHERE ${unattached} LIMIT ${sweptMediaMax})
          AND ${unattached}`)
      }).pipe(Effect.orDie, Effect.withSpan("MediaAttachments.sweep"))

      return MediaAttachments.of({ create, find, change, showPreview, setPendingPreview, remove, sweep })
    })
  )
  static readonly layer = MediaAttachments.layerNoDeps.pipe(Layer.provide([FileOwners.layer, StoredFiles.layer]))
}

/** Types of attachments until their files are processed. */
export const typeOf: Record<FileKind, MediaType> = { picture: "image", gif: "gifv", video: "video", audio: "audio" }

/** Returns the columns of the given texts; fails for a description that is too long. */
export const columnsOf = Effect.fnUntraced(function*({ description, focus }: MediaText) {
  if (description && exceeds(description, mediaDescriptionCharactersMax)) {
    return yield* validationFailed(`Description is too long (maximum is ${mediaDescriptionCharactersMax} characters)`)
  }
  return {
    ...(description === undefined ? {} : { description: description?.trim() || null }),
    ...(focus === undefined ? {} : { focusX: focus.x, focusY: focus.y })
  }
})
