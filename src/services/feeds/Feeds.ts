import { Clock, Context, Effect, Layer } from "effect"
import type { AccountId } from "../database/Ids.ts"

/** Entries that a feed is trimmed to, by time of insertion (limits-and-rates.md section 5). */
export const feedEntriesMax = 800
/** Entries beyond `feedEntriesMax` at which a feed is trimmed. */
export const feedEntriesSlack = 40
/** Entries that a rebuild reads (limits-and-rates.md section 5). */
export const feedEntriesWhole = 400
/**
 * Time without a read after which a feed counts as lost, in milliseconds. Fan-out stops `seenMillisMax` after the owner
 * was last seen, which is recorded once a day; this is two days less, so always earlier.
 */
export const feedUnreadMillisMax = 5 * 86_400_000

/** Maximum bytes of all feeds in a process; beyond it the least recently read are evicted. */
export const feedsBytesMax = 134_217_728
/** Approximate bytes of a feed and of an entry, including its place in the pushed and in the read array. */
const [feedBytes, entryBytes] = [256, 112]

/** A status in a feed; `reblogOf` is the original if the status is a boost. */
export interface FeedEntry {
  readonly id: bigint
  readonly reblogOf: bigint | undefined
}

/** Key of a list's feed. */
type ListFeed = `list:${bigint}`
export const listFeed = (listId: bigint): ListFeed => `list:${listId}`

/** Key of a feed: the home of an account, or a list. */
export type FeedKey = AccountId | ListFeed

/** Fence token of a lost feed's rebuild; a feed that is lost again gets a new one. */
export type Generation = string

/**
 * Home and list feeds: sets of status ids, newest first; a cache of what Postgres would return. Writers may add an
 * entry twice or out of order; `read` sorts and dedupes. A missing feed is not an empty feed.
 */
export class Feeds extends Context.Service<Feeds, {
  /** Adds an entry to many feeds. */
  readonly push: (feeds: ReadonlyArray<FeedKey>, entry: FeedEntry) => Effect.Effect<void>
  /** Returns the whole feed, newest first; undefined if it was never filled and must be rebuilt. */
  readonly read: (feed: FeedKey) => Effect.Effect<ReadonlyArray<FeedEntry> | undefined>
  /**
   * Begins a rebuild, before Postgres is queried: stores a generation in the feed, where it is lost with the feed.
   * Concurrent rebuilds share it, and so does a rebuild that follows an aborted one.
   */
  readonly begin: (feed: FeedKey) => Effect.Effect<Generation>
  /**
   * Adds the entries from Postgres and marks the feed as filled; entries pushed in the meantime are kept. With `since`,
   * does nothing if the feed was dropped or lost after that (pushed entries are gone, and the read ones are stale), or
   * was filled by another rebuild.
   */
  readonly fill: (feed: FeedKey, entries: ReadonlyArray<FeedEntry>, since?: Generation) => Effect.Effect<void>
  /** Drops feeds; the next read of each rebuilds it. */
  readonly drop: (feeds: ReadonlyArray<FeedKey>) => Effect.Effect<void>
}>()("murmuration/services/feeds/Feeds") {
  static readonly layerMemory = Layer.sync(Feeds, () => {
    interface Feed {
      readonly entries: Array<FeedEntry>
      /** Sorted entries, cached from the first read to the next change: most reads find no change. */
      contents?: ReadonlyArray<FeedEntry> | undefined
      filled: boolean
      /** Last read or fill, in milliseconds since 1970. */
      usedAt: number
      generation?: Generation | undefined
    }
    /** In the order of their last creation, read or fill. */
    const feeds = new Map<FeedKey, Feed>()
    let bytes = 0
    const remove = (key: FeedKey, feed: Feed) => {
      bytes -= bytesOf(feed.entries.length)
      feeds.delete(key)
    }
    /** The next read of an evicted feed rebuilds it. */
    const evict = (exempt: Feed | undefined) => {
      if (bytes <= feedsBytesMax) return
      for (const [key, feed] of feeds) {
        if (bytes <= feedsBytesMax) return
        if (feed !== exempt) remove(key, feed)
      }
    }
    const used = (key: FeedKey, feed: Feed) => {
      feeds.delete(key)
      feeds.set(key, feed)
    }
    let generations = 0
    const feedOf = (key: FeedKey) => {
      const found = feeds.get(key)
      if (found !== undefined) return found
      const created: Feed = { entries: [], filled: false, usedAt: 0 }
      feeds.set(key, created)
      bytes += bytesOf(0)
      return created
    }
    return Feeds.of({
      push: (keys, entry) =>
        Effect.sync(() => {
          for (const key of keys) {
            const feed = feedOf(key)
            feed.entries.push(entry)
            feed.contents = undefined
            bytes += entryBytes
            bytes -= trim(feed.entries) * entryBytes
          }
          evict(undefined)
        }),
      read: (key) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const feed = feeds.get(key)
          if (feed === undefined) return undefined
          if (feed.filled && now - feed.usedAt > feedUnreadMillisMax) {
            remove(key, feed)
            return undefined
          }
          feed.usedAt = now
          used(key, feed)
          return feed.contents ??= contentsOf(feed.entries, feed.filled)
        }),
      begin: (key) =>
        Effect.sync(() => {
          const feed = feedOf(key)
          const generation = feed.generation ?? String(++generations)
          if (!feed.filled) feed.generation = generation
          return generation
        }),
      fill: (key, entries, since) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const feed = feedOf(key)
          if (since !== undefined && feed.generation !== since) return
          feed.generation = undefined
          feed.entries.unshift(...entries.toReversed())
          feed.contents = undefined
          feed.filled = true
          feed.usedAt = now
          bytes += (entries.length - trim(feed.entries)) * entryBytes
          used(key, feed)
          evict(feed)
        }),
      drop: (keys) =>
        Effect.sync(() => {
          for (const key of keys) {
            const feed = feeds.get(key)
            if (feed !== undefined) remove(key, feed)
          }
        })
    })
  })
}

/** Trims the oldest insertions; returns how many were removed. */
const trim = (entries: Array<FeedEntry>): number =>
  entries.length > feedEntriesMax + feedEntriesSlack ? entries.splice(0, entries.length - feedEntriesMax).length : 0

const bytesOf = (entries: number) => feedBytes + entries * entryBytes

/**
 * Returns the feed's content from its entries in any order: newest first, deduped, complete between the first and the
 * last; undefined if never filled. An entry that was added late may survive a trim that removed others of its age. A
 * feed that may have been trimmed therefore omits its oldest entries.
 */
export const contentsOf = (
  entries: ReadonlyArray<FeedEntry>,
  filled: boolean
): ReadonlyArray<FeedEntry> | undefined => {
  if (!filled) return undefined
  const found = sorted(entries)
  return entries.length < feedEntriesMax ? found : found.slice(0, Math.max(0, found.length - feedEntriesSlack))
}

/** Sorts entries newest first and dedupes them by id. */
const sorted = (entries: ReadonlyArray<FeedEntry>): Array<FeedEntry> => {
  if (entries.every(({ id }, at) => at === 0 || id < (entries[at - 1]?.id ?? id))) return [...entries]
  if (entries.every(({ id }, at) => at === 0 || id > (entries[at - 1]?.id ?? id))) return entries.toReversed()
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}
