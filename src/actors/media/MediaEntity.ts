import { Context, Effect, Fiber, type Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { MediaId } from "../../services/database/Ids.ts"
import { jobMailboxMax, MediaJob } from "./MediaProtocol.ts"
import * as Pipeline from "./Pipeline.ts"

/** Semaphore of this node's media jobs: at most `MEDIA_CONCURRENCY` run at once. */
export class MediaTurns extends Context.Service<MediaTurns, Semaphore.Semaphore>()(
  "murmuration/actors/media/MediaTurns"
) {}

/**
 * The actor of one uploaded file. Its job is a row; the actor serialises its attempts, within the node's concurrency.
 * At least once: a killed attempt is started again, at the latest by `MediaSweep`. Only the newest attempt's outcome
 * counts. `jobMailboxMax` bounds the waiting callers.
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
      Effect.withSpan("Entity.work"),
      Effect.catchCause((cause) => Effect.logWarning("a media job failed; it will be retried", cause))
    )
    const isRunning = () => running !== undefined && running.pollUnsafe() === undefined
    /** The running attempt, or a new one; its fiber belongs to the actor, not to the caller. */
    const currentRun = Effect.suspend(() =>
      running !== undefined && isRunning()
        ? Effect.succeed(running)
        : Effect.tap(Effect.forkIn(work, scope), (fiber) => Effect.sync(() => running = fiber))
    )

    return MediaJob.of({
      Process: () => Effect.flatMap(currentRun, Fiber.join),
      // The first caller waits for the attempt, so that the actor is not idle in the meantime.
      Wake: () => Effect.suspend(() => isRunning() ? Effect.void : Effect.flatMap(currentRun, Fiber.join))
    })
  }),
  { mailboxCapacity: jobMailboxMax, concurrency: "unbounded", disableFatalDefects: true }
)
