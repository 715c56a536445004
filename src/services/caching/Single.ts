import { Clock, Effect } from "effect"
import { type ChangeKind, Changes } from "./Changes.ts"

/**
 * Caches the value of `load` for `millisMax` milliseconds, or until a row of one of `kinds` changes; for
 * `aloneMillisMax` while changes on other nodes may be missed. While an expired value is reloaded, other callers get
 * the old one: concurrent requests cost one load, and a failed load fails only one request.
 */
export const single = Effect.fnUntraced(function*<A, E, R>(
  { aloneMillisMax, kinds, millisMax }: {
    readonly kinds: ReadonlyArray<ChangeKind>
    readonly millisMax: number
    readonly aloneMillisMax?: number
  },
  load: Effect.Effect<A, E, R>
) {
  const changes = yield* Changes
  let cached: { readonly value: A; readonly began: number; loadedAt: number } | undefined

  return Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const most = aloneMillisMax === undefined || (yield* changes.connected) ? millisMax : aloneMillisMax
    const before = cached
    if (before !== undefined && kinds.every((kind) => changes.last(kind) <= before.began)) {
      const age = now - before.loadedAt
      if (age >= 0 && age < most) return before.value
      before.loadedAt = now
    }
    const began = changes.count()
    const value = yield* load
    cached = { value, began, loadedAt: now }
    return value
  })
})
