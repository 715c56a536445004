import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { type ChangeKind, Changes } from "./Changes.ts"

/** Maximum age of an entry, in milliseconds, while the bus is connected and while it is not. */
export const cachedMillisMax = 30_000
export const cachedAloneMillisMax = 1_000

/** Row that a value depends on, by kind and id. */
export type Dependency = readonly [kind: ChangeKind, id: bigint]

interface Entry<Value> {
  readonly value: Value
  readonly rows: ReadonlyArray<Dependency>
  /** Change count when loading began. */
  readonly began: number
  readonly loadedAt: number
  /** Change count up to which the entry was found unchanged. */
  checked: number
}

/** Size, lifetime and dependencies of a cache. */
interface Options<Key, Value> {
  /** Rows that a value depends on; a change of one makes it stale. */
  readonly rows?: (value: Value, key: Key) => ReadonlyArray<Dependency>
  /** Kinds of which any change makes every value stale. */
  readonly kinds?: ReadonlyArray<ChangeKind>
  readonly max: { readonly entries: number } | { readonly bytes: number; readonly bytesOf: (value: Value) => number }
  /** Maximum age, in milliseconds; `aloneMillisMax` while changes on other nodes may be missed. */
  readonly millisMax?: number
  readonly aloneMillisMax?: number
}

/**
 * In-memory cache of values derived from rows. A value that was loaded while one of its rows changed is stale, however
 * late the change arrives. A cache never decides who may see a value.
 */
interface Cache<Key, Value> {
  /** Returns the cached value if it is fresh. */
  readonly find: (key: Key) => Effect.Effect<Value | undefined>
  /** Returns the cached value, otherwise that of `load`, which is cached unless undefined. */
  readonly get: <V extends Value | undefined, E, R>(
    key: Key,
    load: Effect.Effect<V, E, R>
  ) => Effect.Effect<Value | V, E, R>
  /** Reloads the value. */
  readonly renew: Cache<Key, Value>["get"]
  /** Like `get` for many keys; keys without a value are absent. */
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
  const entries = "entries" in max
    ? boundedMap<Key, Entry<Value>>(max.entries)
    : new LRUCache<Key, Entry<Value>>({ maxSize: max.bytes, sizeCalculation: ({ value }) => max.bytesOf(value) })

  const freshValue = (key: Key, now: number, connected: boolean): Value | undefined => {
    const entry = entries.get(key)
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
    entries.set(key, { value, rows: rows?.(value, key) ?? nothing, began, loadedAt, checked: began })

  const find: Cache<Key, Value>["find"] = (key) =>
    Effect.flatMap(
      changes.connected,
      (connected) => Effect.map(Clock.currentTimeMillis, (now) => freshValue(key, now, connected))
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
        const value = freshValue(key, now, connected)
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
