import { Context, Effect, Layer } from "effect"
import type { MediaId } from "../../services/Ids.ts"
import { traced } from "../../services/Traced.ts"
import { MediaJob } from "./Protocol.ts"

/** The actors of media jobs, as callers see them. */
export class Jobs extends Context.Service<Jobs, {
  /** Has a job done and waits for it, this long at most; the row says how it ended. Never fails. */
  readonly wait: (id: MediaId, secondsMax: number) => Effect.Effect<void>
  /** Says that a row waits; a lost wake-up is made good later. */
  readonly wake: (id: MediaId) => Effect.Effect<void>
}>()("murmuration/actors/media/Jobs") {
  static readonly layer = Layer.effect(
    Jobs,
    Effect.gen(function*() {
      const clientOf = yield* MediaJob.client
      return Jobs.of({
        wait: traced("Jobs.wait")((id: MediaId, secondsMax: number) =>
          clientOf(String(id)).Process().pipe(
            Effect.timeoutOrElse({ duration: `${secondsMax} seconds`, orElse: () => Effect.void }),
            Effect.catchCause((cause) => Effect.logInfo("a media job is left to the agenda", cause))
          )
        ),
        wake: traced("Jobs.wake")((id: MediaId) =>
          clientOf(String(id)).Wake(undefined, { discard: true }).pipe(Effect.ignore)
        )
      })
    })
  )
}
