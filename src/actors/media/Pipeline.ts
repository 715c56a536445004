import { Clock, Effect, Metric } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { MediaId } from "../../services/database/Ids.ts"
import { typeNamed } from "../../services/media/FileTypes.ts"
import { attemptsMax, type MediaJobRecord, MediaJobs } from "../../services/media/MediaJobs.ts"
import { MediaRefused, MediaTools, type Rendition, type Source } from "../../services/media/MediaTools.ts"
import { Storage, type StorageFailed } from "../../services/media/Storage.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { continued } from "../../services/runtime/TraceParents.ts"

const jobsDone = Metric.counter("murmuration_media_jobs_total", {
  description: "Attempts to process a file, by outcome",
  incremental: true
})
const durations = Metric.histogram("murmuration_media_job_seconds", {
  description: "Time of a successful attempt to process a file",
  boundaries: [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300]
})
const count = (outcome: "processed" | "again" | "refused" | "failed") =>
  Metric.update(Metric.withAttributes(jobsDone, { outcome }), 1)

/** Error shown to the owner of a file for which every attempt failed. */
export const processingFailed = "Error processing thumbnail for uploaded media"

/**
 * Steps of a job: fetch the upload, transform it in the attempt's own folder, store the results, commit. Only the
 * commit is visible. An attempt that is killed before it is repeated; the ledger of files lists what it had stored.
 */
export const make = Effect.gen(function*() {
  const jobs = yield* MediaJobs
  const tools = yield* MediaTools
  const storage = yield* Storage
  const files = yield* StoredFiles

  const sourceOf = Effect.fnUntraced(function*(name: string, mime: string | null) {
    const type = typeNamed(mime ?? "")
    if (type === undefined) return yield* new MediaRefused({ text: processingFailed })
    const source: Source = { path: yield* storage.local(name), type }
    return source
  })

  const keep = ({ bytes, extension, path }: Rendition) => files.keep(extension, path, bytes)

  const attempt = Effect.fnUntraced(function*(id: MediaId, job: MediaJobRecord) {
    const folder = yield* storage.folder
    const source = yield* sourceOf(job.uploadName, job.uploadType)
    const thumbnail = job.thumbnailName === null ? undefined : yield* sourceOf(job.thumbnailName, job.thumbnailType)
    const rendered = yield* tools.attachment(source, folder, thumbnail)
    const fileName = yield* keep(rendered.original)
    const previewName = rendered.preview === undefined ? null : yield* keep(rendered.preview)
    return yield* jobs.complete(id, job, {
      type: rendered.type,
      fileName,
      previewName,
      meta: rendered.meta,
      blurhash: rendered.blurhash
    })
  })

  /** Works on a file until its row is ready or failed; fails if the storage or the database is down. */
  const run = (id: MediaId): Effect.Effect<void, SqlError | StorageFailed> =>
    Effect.gen(function*() {
      const job = yield* jobs.claim(id)
      if (job === undefined) return
      // The earlier attempts left no outcome: each died with its process or node.
      if (job.attempts > attemptsMax) {
        yield* count("failed")
        return yield* jobs.fail(id, job, processingFailed)
      }
      const since = yield* Clock.currentTimeMillis
      yield* Effect.scoped(attempt(id, job)).pipe(
        continued("Pipeline.attempt", job.traceParent, { attempts: job.attempts }),
        Effect.flatMap((outcome) =>
          outcome === "again"
            ? Effect.andThen(count("again"), run(id))
            : Effect.flatMap(
              Clock.currentTimeMillis,
              (now) => Effect.andThen(count("processed"), Metric.update(durations, (now - since) / 1_000))
            )
        ),
        // The next node has as many attempts left.
        Effect.onInterrupt(() => Effect.ignore(jobs.release(id, job))),
        Effect.catchTags({
          MediaRefused: ({ text }) => Effect.andThen(count("refused"), jobs.fail(id, job, text)),
          MediaToolFailed: ({ text }) =>
            Effect.andThen(
              Effect.andThen(count("again"), Effect.logInfo("an attempt at a media file failed", text)),
              run(id)
            ),
          StorageFailed: (failure) =>
            Effect.andThen(Effect.andThen(count("again"), jobs.release(id, job)), Effect.fail(failure))
        })
      )
    })

  return { run }
})
