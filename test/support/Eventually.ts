import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"

/**
 * Milliseconds between polls; doubled after each poll up to `most`, so that polling does not starve the awaited work.
 */
const lookMillis = { first: 1, most: 32 }
/** Maximum number of polls: over two minutes, after which the wait fails. */
const looksMax = 4_000

/** Polls until the result is as wanted; a failure reports the last result. */
export const eventually = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<A, E, R>, wanted: (response: A) => boolean) {
    let last: A | undefined
    let pause = lookMillis.first
    for (let look = 0; look < looksMax; look++) {
      last = yield* ask
      if (wanted(last)) return last
      yield* Effect.promise(() => sleep(pause))
      pause = Math.min(2 * pause, lookMillis.most)
    }
    return yield* Effect.die(new Error(`it never came; last was ${inspect(last)}`))
  }
)
