import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"

/** Answers that are kept, and for how long (milliseconds): a dashboard asks for the same ones again and again. */
const keptMax = 500
const keptMillis = 300_000

/** Remembers figures that take a look at many rows, by what was asked for; they are five minutes old at most. */
export const keptFigures = <A>() => {
  const kept = new LRUCache<string, { readonly at: number; readonly figures: A }>({ max: keptMax })
  return Effect.fnUntraced(function*<E, R>(name: string, count: Effect.Effect<A, E, R>) {
    const now = yield* Clock.currentTimeMillis
    const known = kept.get(name)
    if (known !== undefined && now >= known.at && now - known.at < keptMillis) return known.figures
    const figures = yield* count
    kept.set(name, { at: now, figures })
    return figures
  })
}
