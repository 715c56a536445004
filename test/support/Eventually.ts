import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"

/** Milliseconds between two looks: doubled from the first on, so that looking takes no processor from what is looked for. */
const lookMillis = { first: 1, most: 32 }
/** How often is looked at most: two minutes and more, which tells that it never comes. */
const looksMax = 4_000

/** Asks until the answer is what is wanted; the last answer is told where it never is. */
export const eventually = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<A, E, R>, wanted: (answer: A) => boolean) {
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
