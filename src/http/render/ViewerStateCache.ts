import { Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import { cachedAloneMillisMax, cachedMillisMax } from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import type { Hiding, StatusKey, ViewerState } from "../../services/statuses/ViewerState.ts"
import type { ViewerStates } from "../../services/statuses/ViewerStates.ts"
import type { Viewer } from "../../services/Viewer.ts"

/** Bytes of viewer states that are kept. */
const viewerStateCacheBytesMax = 24 * 1024 * 1024
/** What one of them takes, about. */
const viewerStateBytes = 200
/** Statuses that are kept for one viewer and one way of hiding; beyond it the first to come goes first. */
const perViewerMax = 400
interface Entry {
  readonly state: ViewerState
  /** How many changes were known when its query began. */
  readonly began: number
  readonly loadedAt: number
  /** How many changes were known when none of them was found to be one of this. */
  checked: number
}

const waysOf: Record<Hiding, bigint> = { nothing: 0n, authors: 1n, permitted: 2n }

/**
 * How statuses stand for a viewer, kept until something is said to have changed that they depend on: the status or its
 * original (counters, marks, deleted), the viewer's relations, an author. An answer whose query began before the
 * change was heard is not kept, however late it comes. That somebody is not shown a status is not kept either: it would be
 * known faster than that there is none (security row 57).
 */
export const make = Effect.fnUntraced(function*(viewerStates: ViewerStates["Service"]) {
  const changes = yield* Changes
  const kept = new LRUCache<bigint, Map<bigint, Entry>>({ maxSize: viewerStateCacheBytesMax })

  const changeOf = (key: StatusKey): number => {
    const own = Math.max(changes.lastOf("status", key.id), changes.lastOf("account", key.accountId))
    return key.original === undefined ? own : Math.max(own, changeOf(key.original))
  }

  const of = Effect.fnUntraced(function*(viewer: Viewer, page: ReadonlyArray<StatusKey>, hiding: Hiding) {
    const now = yield* Clock.currentTimeMillis
    const oldest = now - ((yield* changes.connected) ? cachedMillisMax : cachedAloneMillisMax)
    const own = (viewer ?? 0n) * 4n + waysOf[hiding]
    const entries = kept.get(own) ?? new Map<bigint, Entry>()
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
    if (entries.size > 0) kept.set(own, entries, { size: entries.size * viewerStateBytes })
    return found
  })

  return { of }
})
