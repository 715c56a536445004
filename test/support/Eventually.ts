import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"

/** How often and how long at most an answer is asked for again, where another program's doing is waited for. */
const lookMillis = 50
const looksMax = 600

/** Asks until the answer is what is wanted; the last answer is told where it never is. */
export const eventually = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<A, E, R>, wanted: (answer: A) => boolean) {
    let last: A | undefined
    for (let look = 0; look < looksMax; look++) {
      last = yield* ask
      if (wanted(last)) return last
      yield* Effect.promise(() => sleep(lookMillis))
    }
    return yield* Effect.die(new Error(`it never came; last was ${JSON.stringify(last)}`))
  }
)
