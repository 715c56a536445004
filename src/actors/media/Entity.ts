import { Context, Effect, Fiber, type Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { MediaId } from "../../services/Ids.ts"
import * as Pipeline from "./Pipeline.ts"
import { jobMailboxMax, MediaJob } from "./Protocol.ts"

/** The turns of this node's jobs: at most `MEDIA_CONCURRENCY` at once, however many actors wait. */
export class MediaTurns extends Context.Service<MediaTurns, Semaphore.Semaphore>()(
  "murmuration/actors/media/MediaTurns"
) {}

/**
 * The actor of one uploaded file. Its job is a row; the actor adds that one attempt runs at a time, and no more on a
 * node than are meant to. At least once: an attempt that is killed at any point is begun anew, by the agenda at the
 * latest. Only the newest attempt's outcome counts. Callers that wait are bounded by `jobMailboxMax`.
 */
export const layer = MediaJob.toLayer(
  Effect.gen(function*() {
    const { entityId } = yield* Entity.CurrentAddress
    const id = MediaId.make(BigInt(entityId))
    const { run } = yield* Pipeline.make
    const turns = yield* MediaTurns
    const scope = yield* Effect.scope
    let running: Fiber.Fiber<void> | undefined

    const work = turns.withPermits(1)(run(id)).pipe(
      Effect.withSpan("MediaJob.run"),
      Effect.catchCause((cause) => Effect.logWarning("a media job must wait", cause))
    )
    const isRunning = () => running !== undefined && running.pollUnsafe() === undefined
    /** The attempt that runs, or a new one; it belongs to the actor, not to who asked for it. */
    const begun = Effect.suspend(() =>
      running !== undefined && isRunning()
        ? Effect.succeed(running)
        : Effect.tap(Effect.forkIn(work, scope), (fiber) => Effect.sync(() => running = fiber))
    )

    return MediaJob.of({
      Process: () => Effect.flatMap(begun, Fiber.join),
      // Who began it waits for it, so that the actor is not idle meanwhile.
      Wake: () => Effect.suspend(() => isRunning() ? Effect.void : Effect.flatMap(begun, Fiber.join))
    })
  }),
  { mailboxCapacity: jobMailboxMax, concurrency: "unbounded", disableFatalDefects: true }
)
