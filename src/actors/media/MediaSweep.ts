import { type Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { MediaAttachments } from "../../services/media/MediaAttachments.ts"
import { MediaJobs } from "../../services/media/MediaJobs.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { repeated } from "../../services/runtime/Repeated.ts"
import { MediaActors } from "./MediaActors.ts"

/** Maximum jobs that a sweep wakes. */
const wakesMax = 200

/**
 * Singleton of the cluster that wakes abandoned media jobs, and deletes unattached uploads and unreferenced files. Two
 * of them for a moment do no harm, because all state is in rows; what one misses, the next sweep finds.
 */
export const layer = Singleton.make(
  "MediaUpkeep",
  Effect.gen(function*() {
    const attachments = yield* MediaAttachments
    const files = yield* StoredFiles
    const mediaActors = yield* MediaActors
    const jobs = yield* MediaJobs

    const every = <A, E>(period: Duration.Input, name: string, work: Effect.Effect<A, E>) =>
      repeated(period, `the media's ${name}`, Effect.withSpan(work, `MediaUpkeep.${name}`))
    const dueJobs = Effect.flatMap(
      jobs.due(wakesMax),
      (ids) => Effect.forEach(ids, mediaActors.wake, { discard: true })
    )
    return yield* Effect.all([
      every("5 seconds", "leftBehind", dueJobs),
      every("10 seconds", "unattached", attachments.sweep),
      every("1 minute", "files", files.sweep)
    ], { concurrency: "unbounded", discard: true })
  })
)
