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
      Effect.suspend(() => {
        let place: "waiting" | "turn" | "slow" = "waiting"
        const giveUp = Effect.sync(() => {
          if (place !== "turn" || slowNow >= slow.atOnceMax) return
          place = "slow"
          slowNow++
          gate.leave()
        })
        const watch = Effect.forever(Effect.andThen(Effect.sleep(slow.millis), giveUp))
        return Effect.ensuring(
          Effect.andThen(
            gate.enter(() => place = "turn"),
            Effect.raceFirst(work(() => place === "slow"), watch)
          ),
          Effect.sync(() => {
            if (place === "turn") gate.leave()
            if (place === "slow") slowNow--
          })
        )
      })
  }
}
