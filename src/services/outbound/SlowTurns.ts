import { Effect } from "effect"
import * as Gate from "./Gate.ts"

/** Work that takes longer than `millis` gives its turn to other work, as long as fewer than `atOnceMax` do so. */
interface Slow {
  readonly millis: number
  readonly atOnceMax: number
}

/**
 * Turns of work that waits for other servers, `atOnceMax` of prompt work at once: servers that answer slowly, or never, hold up
 * no other work.
 */
export const make = (atOnceMax: number, slow: Slow) => {
  const gate = Gate.make(atOnceMax)
  let slowNow = 0

  return {
    /** Does work in its turn; `isSlow` tells whether that was given up. */
    within: <A, E, R>(work: (isSlow: () => boolean) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(
          restore(gate.enter),
          Effect.suspend(() => {
            let inTurn = true
            const giveUp = Effect.sync(() => {
              if (!inTurn || slowNow >= slow.atOnceMax) return
              inTurn = false
              slowNow++
              gate.leave()
            })
            const watch = Effect.forever(Effect.andThen(Effect.sleep(slow.millis), giveUp))
            return Effect.ensuring(
              restore(Effect.raceFirst(work(() => !inTurn), watch)),
              Effect.sync(() => inTurn ? gate.leave() : void slowNow--)
            )
          })
        )
      )
  }
}
