import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { mediaAttachmentsMax } from "../instance/ContentLimits.ts"
import { Conflict, Unprocessable } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { FileOwners } from "./FileOwners.ts"
import { columnsOf, type MediaText, metaWith, type Preview } from "./MediaAttachments.ts"
import { MediaRecord } from "./MediaRecord.ts"

const fileRows = rowsOf(
  Schema.Struct({ ...MediaRecord.mapFields(Struct.pick(["type", "state"])).fields, id: Schema.BigInt })
)
const previewRows = rowsOf(Schema.Struct({ previewName: Schema.NullOr(Schema.String) }))

/** Receiver of the files: a status or a scheduled post. */
type AttachmentOwner = { readonly statusId: bigint } | { readonly scheduledStatusId: bigint }

/** Changed description, focus or preview of a status's file. */
interface MediaRevision extends MediaText {
  readonly id: bigint
  readonly preview?: Preview
}

/**
 * Files of posts, written in the transaction of the author's command. A file belongs to one post: concurrent posts lock
 * its row, and the second one finds it taken (safety row 50).
 */
export class AttachmentWriter extends Context.Service<AttachmentWriter, {
  /**
   * Fails for files that cannot be attached: too many, of other accounts, already attached, unprocessed, or audio or
   * video together with other files.
   */
  readonly check: (
    owner: AccountId,
    ids: ReadonlyArray<bigint>,
    statusId: bigint | null
  ) => Effect.Effect<void, Unprocessable | SqlError>
  /** Attaches files that were checked in this transaction. */
  readonly attach: (ids: ReadonlyArray<bigint>, bearer: AttachmentOwner) => Effect.Effect<void, SqlError>
  /** Returns true if a revision would change a file of the status. */
  readonly differ: (
    statusId: bigint,
    revisions: ReadonlyArray<MediaRevision>
  ) => Effect.Effect<boolean, Unprocessable | SqlError>
  /** Changes files of the status; fails with `Conflict` if the image of a new preview was deleted in the meantime. */
  readonly revise: (
    statusId: bigint,
    revisions: ReadonlyArray<MediaRevision>
  ) => Effect.Effect<void, Conflict | Unprocessable | SqlError>
  /** Detaches the files of a deleted status, for another post, or deletes them at once. */
  readonly detach: (statusId: bigint, forAnotherPost: boolean) => Effect.Effect<void, SqlError>
}>()("murmuration/services/media/AttachmentWriter") {
  static readonly layerNoDeps = Layer.effect(
    AttachmentWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const fileOwners = yield* FileOwners

      const check = traced("AttachmentWriter.check")(
        function*(owner: AccountId, ids: ReadonlyArray<bigint>, statusId: bigint | null) {
          if (ids.length === 0) return
          if (ids.length > mediaAttachmentsMax) {
            return yield* new Unprocessable({ text: `Cannot attach more than ${mediaAttachmentsMax} files` })
          }
          const found = yield* fileRows(sql`
            SELECT id, type, state FROM media_attachments
            WHERE id = ANY (${ids}::bigint[]) AND account_id = ${owner} AND scheduled_status_id IS NULL
              AND (status_id IS NULL OR status_id = ${statusId}) ORDER BY id FOR UPDATE`)
          const known = new Set(found.map(({ id }) => id))
          const missing = ids.filter((id) => !known.has(id))
          if (missing.length > 0) {
            return yield* new Unprocessable({
              text: `Media ${missing.join(", ")} not found or already attached to another post`
            })
          }
          if (found.length > 1 && found.some(({ type }) => type === "video" || type === "audio")) {
            return yield* new Unprocessable({ text: "Cannot attach a video to a post that already contains images" })
          }
          if (found.some(({ state }) => state !== "ready")) {
            return yield* new Unprocessable({
              text: "Cannot attach files that have not finished processing. Try again in a moment!"
            })
          }
        }
      )

      const attach = traced("AttachmentWriter.attach")((ids: ReadonlyArray<bigint>, bearer: AttachmentOwner) =>
        ids.length === 0
          ? Effect.void
          : Effect.asVoid(
            tracked("status", "statusId" in bearer ? [bearer.statusId] : [])(
              sql`UPDATE media_attachments SET ${sql.update({ ...bearer })} WHERE id = ANY (${ids}::bigint[])`
            )
          )
      )

      const differ = traced("AttachmentWriter.differ")(
        function*(statusId: bigint, revisions: ReadonlyArray<MediaRevision>) {
          for (const { id, preview, ...text } of revisions.slice(0, mediaAttachmentsMax)) {
            if (preview !== undefined) return true
            const columns = Object.entries(yield* columnsOf(text))
            if (columns.length === 0) continue
            const same = sql.and(columns.map(([name, value]) => sql`${sql(name)} IS NOT DISTINCT FROM ${value}`))
            const rows = yield* sql`SELECT id FROM media_attachments
              WHERE id = ${id} AND status_id = ${statusId} AND NOT (${same})`
            if (rows.length > 0) return true
          }
          return false
        }
      )

      /** Images have no separate preview. */
      const setPreview = Effect.fnUntraced(function*(statusId: bigint, id: bigint, preview: Preview) {
        const { blurhash, previewName } = preview
        const rows = yield* previewRows(sql`SELECT preview_name FROM media_attachments
          WHERE id = ${id} AND status_id = ${statusId} AND type <> 'image' FOR UPDATE`)
        if (rows.length === 0) return
        yield* fileOwners.release(rows.flatMap((row) => row.previewName ?? []))
        if (!(yield* fileOwners.hold([previewName], { mediaId: id }))) return yield* new Conflict()
        yield* tracked("status", [statusId])(
          sql`UPDATE media_attachments SET preview_name = ${previewName}, blurhash = ${blurhash},
          meta = ${metaWith(sql, preview)} WHERE id = ${id}`
        )
      })

      const revise = traced("AttachmentWriter.revise")(
        function*(statusId: bigint, revisions: ReadonlyArray<MediaRevision>) {
          for (const { id, preview, ...text } of revisions.slice(0, mediaAttachmentsMax)) {
            if (preview !== undefined) yield* setPreview(statusId, id, preview)
            const columns = yield* columnsOf(text)
            if (Object.keys(columns).length === 0) continue
            yield* tracked("status", [statusId])(
              sql`UPDATE media_attachments SET ${sql.update(columns)} WHERE id = ${id} AND status_id = ${statusId}`
            )
          }
        }
      )

      const detach = traced("AttachmentWriter.detach")(function*(statusId: bigint, forAnotherPost: boolean) {
        // The stored files lose their owner, and the file sweep removes them.
        if (!forAnotherPost) {
          return yield* Effect.asVoid(
            tracked("status", [statusId])(sql`DELETE FROM media_attachments WHERE status_id = ${statusId}`)
          )
        }
        const at = yield* Clock.currentTimeMillis
        yield* tracked("status", [statusId])(
          sql`UPDATE media_attachments SET status_id = NULL, touched_at = ${new Date(at)}
          WHERE status_id = ${statusId}`
        )
      })
      return AttachmentWriter.of({ check, attach, differ, revise, detach })
    })
  )
  static readonly layer = AttachmentWriter.layerNoDeps.pipe(Layer.provide(FileOwners.layer))
}
