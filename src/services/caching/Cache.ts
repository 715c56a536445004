import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { boundedMap } from "../BoundedMap.ts"
import { type ChangeKind, Changes } from "./Changes.ts"

/** How long an entry is believed while the nodes hear one another, and while they do not (milliseconds). */
export const cachedMillisMax = 30_000
export const cachedAloneMillisMax = 1_000

/** A row that a value was made of, by its kind and id. */
export type Dependency = readonly [kind: ChangeKind, id: bigint]

interface Entry<Value> {
  readonly value: Value
  readonly rows: ReadonlyArray<Dependency>
  /** How many changes were known when it began to be loaded. */
  readonly began: number
  readonly loadedAt: number
  /** How many changes were known when none of them was found to be one of the value's. */
  checked: number
}

/** What a cache keeps, for how long, and what that was made of. */
interface Options<Key, Value> {
  /** Rows that a value was made of: it is not believed after one of them changed. */
  readonly rows?: (value: Value, key: Key) => ReadonlyArray<Dependency>
  /** Kinds of which any row may be in any value. */
  readonly kinds?: ReadonlyArray<ChangeKind>
  readonly max: { readonly entries: number } | { readonly bytes: number; readonly bytesOf: (value: Value) => number }
  /** How long a value is believed at most, and while changes on other nodes can be missed; in milliseconds. */
  readonly millisMax?: number
  readonly aloneMillisMax?: number
}

/**
 * Values in memory that are made of rows. One that was loaded while a row changed is not believed either, however late it
 * comes. A cache never decides who may see a value.
 */
interface Cache<Key, Value> {
  /** What is kept and believed. */
  readonly find: (key: Key) => Effect.Effect<Value | undefined>
  /** The same, else what `load` gives, which is kept unless it is undefined. */
  readonly get: <V extends Value | undefined, E, R>(
    key: Key,
    load: Effect.Effect<V, E, R>
  ) => Effect.Effect<Value | V, E, R>
  /** What `load` gives, in any case. */
  readonly renew: Cache<Key, Value>["get"]
  /** The same for many keys; those that do not exist are absent. */
  readonly getAll: <E, R>(
    keys: Iterable<Key>,
    load: (missing: ReadonlyArray<Key>) => Effect.Effect<ReadonlyMap<Key, Value>, E, R>
  ) => Effect.Effect<ReadonlyMap<Key, Value>, E, R>
}

const nothing: ReadonlyArray<Dependency> = []

export const make = Effect.fnUntraced(function*<Key extends NonNullable<unknown>, Value extends NonNullable<unknown>>(
  options: Options<Key, Value>
) {
  const changes = yield* Changes
  const { aloneMillisMax = cachedAloneMillisMax, kinds = [], max, millisMax = cachedMillisMax, rows } = options
  const kept = "entries" in max
    ? boundedMap<Key, Entry<Value>>(max.entries)
    : new LRUCache<Key, Entry<Value>>({ maxSize: max.bytes, sizeCalculation: ({ value }) => max.bytesOf(value) })

  const believable = (key: Key, now: number, connected: boolean): Value | undefined => {
    const entry = kept.get(key)
    if (entry === undefined) return undefined
    const { loadedAt } = entry
    if (now < loadedAt || now - loadedAt >= (connected ? millisMax : aloneMillisMax)) return undefined
    const count = changes.count()
    if (entry.checked !== count) {
      if (isChanged(entry)) return undefined
      entry.checked = count
    }
    return entry.value
  }
  const isChanged = ({ began, rows }: Entry<Value>) => {
    for (const kind of kinds) if (changes.last(kind) > began) return true
    for (const [kind, id] of rows) if (changes.lastOf(kind, id) > began) return true
    return false
  }
  const keep = (key: Key, value: Value, began: number, loadedAt: number) =>
    kept.set(key, { value, rows: rows?.(value, key) ?? nothing, began, loadedAt, checked: began })

  const find: Cache<Key, Value>["find"] = (key) =>
    Effect.flatMap(
      changes.connected,
      (connected) => Effect.map(Clock.currentTimeMillis, (now) => believable(key, now, connected))
    )

  const renew: Cache<Key, Value>["renew"] = Effect.fnUntraced(function*(key, load) {
    const now = yield* Clock.currentTimeMillis
    const began = changes.count()
    const loaded = yield* load
    if (loaded !== undefined) keep(key, loaded, began, now)
    return loaded
  })

  const cache: Cache<Key, Value> = {
    find,
    renew,
    get: (key, load) =>
      Effect.flatMap(find(key), (value) => value === undefined ? renew(key, load) : Effect.succeed(value)),
    getAll: Effect.fnUntraced(function*(keys, load) {
      const now = yield* Clock.currentTimeMillis
      const connected = yield* changes.connected
      const found = new Map<Key, Value>()
      const missing = new Set<Key>()
      for (const key of keys) {
        const value = believable(key, now, connected)
        if (value === undefined) missing.add(key)
        else found.set(key, value)
      }
      if (missing.size === 0) return found
      const began = changes.count()
      for (const [key, value] of yield* load([...missing])) {
        found.set(key, value)
        keep(key, value, began, now)
      }
      return found
    })
  }
  return cache
})
