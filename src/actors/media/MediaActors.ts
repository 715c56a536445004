import { Context, Effect, Layer } from "effect"
import type { MediaId } from "../../services/database/Ids.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { MediaJob } from "./MediaProtocol.ts"

/** Client of the actors of media jobs. */
export class MediaActors extends Context.Service<MediaActors, {
  /** Runs a job and waits for it, up to `secondsMax`; its row has the outcome. Never fails. */
  readonly wait: (id: MediaId, secondsMax: number) => Effect.Effect<void>
  /** Tells the actor that its row waits; `MediaSweep` makes up for a lost wake-up. */
  readonly wake: (id: MediaId) => Effect.Effect<void>
}>()("murmuration/actors/media/MediaActors") {
  static readonly layer = Layer.effect(
    MediaActors,
    Effect.gen(function*() {
      const clientOf = yield* MediaJob.client
      return MediaActors.of({
        wait: traced("MediaActors.wait")((id: MediaId, secondsMax: number) =>
          clientOf(String(id)).Process().pipe(
            Effect.timeoutOrElse({ duration: `${secondsMax} seconds`, orElse: () => Effect.void }),
            Effect.catchCause((cause) =>
              Effect.logInfo("a media job could not be started; the agenda will start it", cause)
            )
          )
        ),
        wake: traced("MediaActors.wake")((id: MediaId) =>
          clientOf(String(id)).Wake(undefined, { discard: true }).pipe(Effect.ignore)
        )
      })
    })
  )
}
