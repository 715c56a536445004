import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { MediaId } from "../database/Ids.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { Conflict } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { TraceParent } from "../runtime/TraceParents.ts"
import { FileOwners } from "./FileOwners.ts"
import type { MediaType, Meta } from "./MediaRecord.ts"
import { StoredFiles } from "./StoredFiles.ts"

/** Maximum attempts to decode a file; each crash or hang counts. */
export const attemptsMax = 3
/** Age, in milliseconds, after which a job was abandoned by a dead node, or its wake-up was lost. */
export const staleMillis = 10_000

/** A file to process; types are `FileType.mime`. */
export const MediaJobRecord = Schema.Struct({
  attempts: Schema.Int,
  statusId: Schema.NullOr(Schema.BigInt),
  uploadName: Schema.String,
  uploadType: Schema.String,
  thumbnailName: Schema.NullOr(Schema.String),
  thumbnailType: Schema.NullOr(Schema.String),
  traceParent: TraceParent
})
export type MediaJobRecord = typeof MediaJobRecord.Type
const mediaJobRows = rowsOf(MediaJobRecord)

const JobUploads = MediaJobRecord.mapFields(Struct.pick(["uploadName", "thumbnailName"]))
type JobUploads = typeof JobUploads.Type
const uploadRows = rowsOf(JobUploads)

/** Stored result of a job. */
interface Outcome {
  readonly type: MediaType
  readonly fileName: string
  readonly previewName: string | null
  readonly meta: Meta
  readonly blurhash: string | null
}

/**
 * Rows of media jobs. A running job belongs to its newest attempt; an earlier one on a node that was presumed dead
 * changes nothing.
 */
export class MediaJobs extends Context.Service<MediaJobs, {
  /** Begins an attempt; undefined if there is nothing left to do. */
  readonly claim: (id: MediaId) => Effect.Effect<MediaJobRecord | undefined, SqlError>
  /**
   * Publishes the result if this attempt is still current: "shown", else "lost". If the owner changed the preview in
   * the meantime, the job is queued again instead: "again".
   */
  readonly complete: (
    id: MediaId,
    job: MediaJobRecord,
    outcome: Outcome
  ) => Effect.Effect<"shown" | "lost" | "again", SqlError>
  /** Marks the file as failed if this attempt is still current; `text` is the reason for its owner. */
  readonly fail: (id: MediaId, job: MediaJobRecord, text: string) => Effect.Effect<void, SqlError>
  /**
   * Returns an attempt to the queue uncounted: the failure was not the file's fault, or the node is stopping. False if
   * it was not the newest attempt.
   */
  readonly release: (id: MediaId, job: MediaJobRecord) => Effect.Effect<boolean, SqlError>
  /** Returns abandoned jobs, oldest first. */
  readonly due: (jobsMax: number) => Effect.Effect<ReadonlyArray<MediaId>, SqlError>
}>()("murmuration/services/media/MediaJobs") {
  static readonly layerNoDeps = Layer.effect(
    MediaJobs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const files = yield* StoredFiles
      const fileOwners = yield* FileOwners
      const tracked = yield* RowChanges.make
      const uploadsOf = ({ thumbnailName, uploadName }: JobUploads) =>
        thumbnailName === null ? [uploadName] : [uploadName, thumbnailName]
      const isOwnAttempt = (id: MediaId, { attempts }: MediaJobRecord) =>
        sql`id = ${id} AND attempts = ${attempts} AND state = 'processing'`

      const claim = traced("MediaJobs.claim")(function*(id: MediaId) {
        const [job] = yield* mediaJobRows(sql`
          UPDATE media_attachments SET state = 'processing', attempts = attempts + 1,
            touched_at = ${new Date(yield* Clock.currentTimeMillis)}
          WHERE id = ${id} AND state IN ('queued', 'processing')
          RETURNING attempts, status_id, upload_name, upload_type, thumbnail_name, thumbnail_type, trace_parent`)
        return job
      })

      const release = traced("MediaJobs.release")((id: MediaId, job: MediaJobRecord) =>
        Effect.map(
          sql`UPDATE media_attachments SET state = 'queued', attempts = attempts - 1 WHERE ${
            isOwnAttempt(id, job)
          } RETURNING id`,
          (rows) => rows.length > 0
        )
      )

      const complete = traced("MediaJobs.complete")(function*(id: MediaId, job: MediaJobRecord, outcome: Outcome) {
        const { previewName } = outcome
        const names = previewName === null ? [outcome.fileName] : [outcome.fileName, previewName]
        const done = yield* transaction(sql)(Effect.gen(function*() {
          // Files of imported posts are processed after their posts are shown.
          const rows = yield* tracked("status", job.statusId === null ? [] : [job.statusId])(
            sql`UPDATE media_attachments SET state = 'ready', type = ${outcome.type},
              file_name = ${outcome.fileName}, preview_name = ${previewName}, blurhash = ${outcome.blurhash},
              meta = ${JSON.stringify(outcome.meta)}::jsonb, upload_name = NULL, thumbnail_name = NULL
            WHERE ${isOwnAttempt(id, job)} AND thumbnail_name IS NOT DISTINCT FROM ${job.thumbnailName} RETURNING id`
          )
          if (rows.length === 0) {
            return (yield* release(id, job)) ? "again" : "lost"
          }
          yield* fileOwners.release(uploadsOf(job))
          // Files of an attempt that stalled for an hour were swept; nothing is published, and the job is retried.
          return (yield* fileOwners.hold(names, { mediaId: id })) ? "shown" : yield* new Conflict()
        })).pipe(Effect.catchTag("Conflict", () => Effect.succeed("lost" as const)))
        yield* files.discard(done === "shown" ? uploadsOf(job) : names)
        return done
      })

      const fail = traced("MediaJobs.fail")(function*(id: MediaId, job: MediaJobRecord, text: string) {
        const names = yield* transaction(sql)(Effect.gen(function*() {
          const [failed] = yield* uploadRows(sql`UPDATE media_attachments m SET state = 'failed', error = ${text},
              upload_name = NULL, thumbnail_name = NULL
            FROM (SELECT id, upload_name, thumbnail_name FROM media_attachments WHERE ${
            isOwnAttempt(id, job)
          } FOR UPDATE) old
            WHERE m.id = old.id RETURNING old.upload_name, old.thumbnail_name`)
          if (failed === undefined) return []
          const names = uploadsOf(failed)
          yield* fileOwners.release(names)
          return names
        }))
        yield* files.discard(names)
      })

      const due = traced("MediaJobs.due")(function*(jobsMax: number) {
        const before = new Date((yield* Clock.currentTimeMillis) - staleMillis)
        const rows = yield* idRows(sql`SELECT id FROM media_attachments
          WHERE state IN ('queued', 'processing') AND touched_at < ${before} ORDER BY touched_at LIMIT ${jobsMax}`)
        return rows.map(({ id }) => MediaId.make(id))
      })

      return MediaJobs.of({ claim, complete, fail, release, due })
    })
  )
  static readonly layer = MediaJobs.layerNoDeps.pipe(Layer.provide([FileOwners.layer, StoredFiles.layer]))
}
