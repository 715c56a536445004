import { Effect } from "effect"
import { elapsedMillis } from "../runtime/ElapsedMillis.ts"

/** Period of the check for expired deadlines, in milliseconds; the maximum delay of an expiry. */
const lookMillis = 1_000

/** A deadline and the action on its expiry. */
interface Waiting {
  /** An `elapsedMillis` time. */
  readonly until: number
  readonly expire: () => void
}

/**
 * Timeouts for thousands of concurrent operations: one fiber checks all of them once a second. A timer for each would
 * cost a considerable part of the operation itself.
 */
export const make = Effect.map(Effect.scope, (scope) => {
  const waiting = new Set<Waiting>()
  let isChecking = false

  const check = Effect.gen(function*() {
    // `begin` may not have been called yet; it has been after the first sleep.
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
    isChecking = false
  })))

  return {
    /** Starts a deadline; the returned function ends it. */
    begin: (until: number, expire: () => void): () => void => {
      const one = { until, expire }
      waiting.add(one)
      return () => void waiting.delete(one)
    },
    /** Starts the checking fiber; call it right before `begin`, with nothing asynchronous in between. */
    watch: Effect.suspend(() => {
      if (isChecking) return Effect.void
      isChecking = true
      return Effect.asVoid(Effect.forkIn(check, scope))
    })
  }
})
