import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { hashedKey } from "../secrets/HashedKey.ts"

/** Maximum cached results, and their maximum age in milliseconds: dashboards repeat the same requests. */
const keptMax = 500
const keptMillis = 300_000

/** Returns a cache for figures that read many rows, by name; they are up to five minutes old. */
export const figureCache = <A>() => {
  const cache = new LRUCache<string, { readonly at: number; readonly figures: A }>({ max: keptMax })
  return Effect.fnUntraced(function*<E, R>(name: string, count: Effect.Effect<A, E, R>) {
    const now = yield* Clock.currentTimeMillis
    // The name contains the query of staff, so it has any length.
    const key = hashedKey(name)
    const known = cache.get(key)
    if (known !== undefined && now >= known.at && now - known.at < keptMillis) return known.figures
    const figures = yield* count
    cache.set(key, { at: now, figures })
    return figures
  })
}
