import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { hashedKey } from "../HashedKey.ts"

/** Answers that are kept, and for how long (milliseconds): a dashboard asks for the same ones again and again. */
const keptMax = 500
const keptMillis = 300_000

/** Remembers figures that take a look at many rows, by what was asked for; they are five minutes old at most. */
export const keptFigures = <A>() => {
  const kept = new LRUCache<string, { readonly at: number; readonly figures: A }>({ max: keptMax })
  return Effect.fnUntraced(function*<E, R>(name: string, count: Effect.Effect<A, E, R>) {
    const now = yield* Clock.currentTimeMillis
    // A name has what staff asked about, of any length.
    const key = hashedKey(name)
    const known = kept.get(key)
    if (known !== undefined && now >= known.at && now - known.at < keptMillis) return known.figures
    const figures = yield* count
    kept.set(key, { at: now, figures })
    return figures
  })
}
