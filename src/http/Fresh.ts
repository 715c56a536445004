import { Clock, Effect } from "effect"

/**
 * What `load` gives, kept for `millisMax` milliseconds. While somebody loads it anew the others get what is kept, so
 * that many requests at once cost one load; a load that fails fails that one request only.
 */
export const fresh = <A, E, R>(millisMax: number, load: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  let kept: { readonly value: A; loadedAt: number } | undefined
  return Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (kept !== undefined) {
      const age = now - kept.loadedAt
      if (age >= 0 && age < millisMax) return kept.value
      kept.loadedAt = now
    }
    const value = yield* load
    kept = { value, loadedAt: now }
    return value
  })
}
