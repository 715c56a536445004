import { Effect } from "effect"
import { elapsedMillis } from "../ElapsedMillis.ts"

/** How often is looked for what has taken too long, in milliseconds: so much later it is given up at most. */
const lookMillis = 1_000

/** One of those that wait, and what is done when its time is over. */
interface Waiting {
  /** By `elapsedMillis`. */
  readonly until: number
  readonly expire: () => void
}

/**
 * Limits of time for what is done by the thousand: one fiber looks at all of them once a second. A timer for each would
 * cost as much as a part of what it limits.
 */
export const make = Effect.map(Effect.scope, (scope) => {
  const waiting = new Set<Waiting>()
  let looks = false

  const look = Effect.gen(function*() {
    // A declared read may not have begun yet: it has after the first sleep.
    do {
      yield* Effect.sleep(lookMillis)
      const now = yield* elapsedMillis
      for (const one of waiting) {
        if (one.until > now) continue
        waiting.delete(one)
        one.expire()
      }
    } while (waiting.size > 0)
  }).pipe(Effect.ensuring(Effect.sync(() => {
    looks = false
  })))

  return {
    /** Begins a limit; the function that comes back ends it. */
    begin: (until: number, expire: () => void): () => void => {
      const one = { until, expire }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    /** Has somebody look from now on; called right before `begin`, with nothing between them that waits. */
    watch: Effect.suspend(() => {
      if (looks) return Effect.void
      looks = true
      return Effect.asVoid(Effect.forkIn(look, scope))
    })
  }
})
