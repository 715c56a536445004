import { Clock, Effect } from "effect"
import { type Kind, onChanged } from "./render/Changes.ts"

/**
 * What `load` gives, kept for `millisMax` milliseconds. While somebody loads it anew the others get what is kept, so
 * that many requests at once cost one load; a load that fails fails that one request only.
 */
export const fresh = <A, E, R>(millisMax: number, load: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  keeping(millisMax, load).value

/** The same, which loads anew at once when any node says that what it is made of has changed. */
export const freshUntilChanged = Effect.fnUntraced(
  function*<A, E, R>(kind: Kind, millisMax: number, load: Effect.Effect<A, E, R>) {
    const { forget, value } = keeping(millisMax, load)
    yield* onChanged(kind, forget)
    return value
  }
)

const keeping = <A, E, R>(millisMax: number, load: Effect.Effect<A, E, R>) => {
  let kept: { readonly value: A; loadedAt: number } | undefined
  // A value that was asked for before a change is not kept.
  let changes = 0
  const value = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (kept !== undefined) {
      const age = now - kept.loadedAt
      if (age >= 0 && age < millisMax) return kept.value
      kept.loadedAt = now
    }
    const before = changes
    const loaded = yield* load
    if (changes === before) kept = { value: loaded, loadedAt: now }
    return loaded
  })
  const forget = () => {
    changes++
    kept = undefined
  }
  return { value, forget }
}
