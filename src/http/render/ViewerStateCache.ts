import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { cachedAloneMillisMax, cachedMillisMax } from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import type { Hiding, StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import type { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"

/** Maximum bytes of cached viewer states. */
const viewerStateCacheBytesMax = 24 * 1024 * 1024
/** Approximate size of a viewer state, in bytes. */
const viewerStateBytes = 200
/** Maximum cached statuses per viewer and kind of hiding; the oldest are evicted. */
const perViewerMax = 400
interface Entry {
  readonly state: ViewerState
  /** Number of known changes when its query began. */
  readonly began: number
  readonly loadedAt: number
  /** Number of known changes when it was last found unaffected. */
  checked: number
}

const waysOf: Record<Hiding, bigint> = { nothing: 0n, authors: 1n, permitted: 2n }

/**
 * Cache of viewer states, until a dependency changes: the status or its original (counters, marks, deletion), the
 * viewer's relations, or an author. A result whose query began before a change was received is not cached, however late
 * it arrives. A missing state is not cached either: that response would be faster than one for a status that does not
 * exist (security row 57).
 */
export const make = Effect.fnUntraced(function*(viewerStates: ViewerStates["Service"]) {
  const changes = yield* Changes
  const cache = new LRUCache<bigint, Map<bigint, Entry>>({ maxSize: viewerStateCacheBytesMax })

  const changeOf = (key: StatusKey): number => {
    const own = Math.max(changes.lastOf("status", key.id), changes.lastOf("account", key.accountId))
    return key.original === undefined ? own : Math.max(own, changeOf(key.original))
  }

  const of = Effect.fnUntraced(function*(viewer: Viewer, page: ReadonlyArray<StatusKey>, hiding: Hiding) {
    const now = yield* Clock.currentTimeMillis
    const oldest = now - ((yield* changes.connected) ? cachedMillisMax : cachedAloneMillisMax)
    const own = (viewer ?? 0n) * 4n + waysOf[hiding]
    const entries = cache.get(own) ?? new Map<bigint, Entry>()
    const count = changes.count()
    const related = viewer === undefined ? 0 : changes.lastOf("relations", viewer)
    const unchanged = (entry: Entry, key: StatusKey) => {
      if (entry.checked === count) return true
      if (entry.began < related || entry.began < changeOf(key)) return false
      if (entry.state.reactions.length > 0 && entry.began < changes.last("emojis")) return false
      entry.checked = count
      return true
    }
    const found = new Map<bigint, ViewerState>()
    const missing: Array<StatusKey> = []
    for (const key of page) {
      const entry = entries.get(key.id)
      const fresh = entry !== undefined && entry.loadedAt > oldest && entry.loadedAt <= now && unchanged(entry, key)
      if (!fresh) missing.push(key)
      else found.set(key.id, entry.state)
    }
    if (missing.length === 0) return found
    const loaded = yield* viewerStates.of(viewer, missing, hiding)
    for (const { id } of missing) {
      const state = loaded.get(id)
      entries.delete(id)
      if (state === undefined) continue
      found.set(id, state)
      entries.set(id, { state, began: count, loadedAt: now, checked: count })
    }
    for (const id of entries.keys()) {
      if (entries.size <= perViewerMax) break
      entries.delete(id)
    }
    if (entries.size > 0) cache.set(own, entries, { size: entries.size * viewerStateBytes })
    return found
  })

  return { of }
})
