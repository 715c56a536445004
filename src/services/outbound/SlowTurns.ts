import { Effect } from "effect"
import * as Gate from "./Gate.ts"

/** Work that takes longer than `millis` gives up its turn, as long as fewer than `atOnceMax` have done so. */
interface Slow {
  readonly millis: number
  readonly atOnceMax: number
}

/**
 * Creates turns for work that waits for other servers, at most `atOnceMax` at once. Servers that reply slowly or never
 * do not hold up other work.
 */
export const make = (atOnceMax: number, slow: Slow) => {
  const gate = Gate.make(atOnceMax)
  let slowNow = 0

  return {
    /** Runs work in a turn; `isSlow` returns true once the turn was given up. */
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
