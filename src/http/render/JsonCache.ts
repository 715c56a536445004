import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { boundedMap } from "../../services/BoundedMap.ts"
import type { Broadcast } from "../../services/Broadcast.ts"

/** How long an entry is believed while the nodes hear one another, and while they do not (milliseconds). */
export const cachedMillisMax = 30_000
export const cachedAloneMillisMax = 1_000
/** Ids whose removal is remembered, so that a read that began before it does not bring the old value back. */
const forgottenMax = 10_000

interface Entry<Value> {
  readonly value: Value
  readonly loadedAt: number
}

/** Something that is the same for every viewer, kept ready by id; it never decides who may see it. */
interface JsonCache<Value> {
  /** Cached values of `ids`; `load` gives the others, which are then cached. Ids that do not exist are absent. */
  readonly get: <E, R>(
    ids: Iterable<bigint>,
    load: (missing: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, Value>, E, R>
  ) => Effect.Effect<ReadonlyMap<bigint, Value>, E, R>
  readonly forget: (ids: ReadonlyArray<bigint>) => void
  /** Forgets everything, for a change that any value may show. */
  readonly clear: () => void
}

/** A cache of `bytesMax` bytes; `bytesOf` says how many a value takes. */
export const make = <Value extends object>(options: {
  readonly bytesMax: number
  readonly bytesOf: (value: Value) => number
  readonly connected: Broadcast["Service"]["connected"]
}): JsonCache<Value> => {
  const kept = new LRUCache<bigint, Entry<Value>>({
    maxSize: options.bytesMax,
    sizeCalculation: ({ value }) => options.bytesOf(value)
  })
  const forgotten = boundedMap<bigint, number>(forgottenMax)
  let removals = 0
  let clearedAt = 0

  return {
    get: Effect.fnUntraced(function*(ids, load) {
      const now = yield* Clock.currentTimeMillis
      const oldest = now - ((yield* options.connected) ? cachedMillisMax : cachedAloneMillisMax)
      const found = new Map<bigint, Value>()
      const missing = new Set<bigint>()
      for (const id of ids) {
        const entry = kept.get(id)
        if (entry !== undefined && entry.loadedAt > oldest && entry.loadedAt <= now) found.set(id, entry.value)
        else missing.add(id)
      }
      if (missing.size === 0) return found
      const began = removals
      for (const [id, value] of yield* load([...missing])) {
        found.set(id, value)
        if (clearedAt <= began && (forgotten.get(id) ?? 0) <= began) kept.set(id, { value, loadedAt: now })
      }
      return found
    }),
    forget: (ids) => {
      removals++
      for (const id of ids) {
        kept.delete(id)
        forgotten.set(id, removals)
      }
    },
    clear: () => {
      clearedAt = ++removals
      kept.clear()
    }
  }
}
