import { Clock, Context, Effect, Layer } from "effect"
import type { AccountId } from "../Ids.ts"

/** Entries that a feed is trimmed to, the last that were added (limits-and-rates.md section 5). */
export const feedEntriesMax = 800
/** Entries that a feed may hold beyond that before it is trimmed. */
export const feedEntriesSlack = 40
/** Entries that a feed is made anew with (limits-and-rates.md section 5). */
export const feedEntriesWhole = 400
/**
 * A feed that its owner did not read for that long, in milliseconds, counts as lost. Fan-out stops to write into it
 * `seenMillisMax` after its owner was last seen, which is noted once a day, and two days less are always before that.
 */
export const feedUnreadMillisMax = 5 * 86_400_000

/** Bytes of all feeds in the memory of a process; beyond it those go that were not read for longest. */
export const feedsBytesMax = 134_217_728
/** What a feed and one of its entries take, about; the entry's places in what was pushed and in what is read included. */
const [feedBytes, entryBytes] = [256, 112]

/** A status in a feed; `reblogOf` is the original where the status is a reblog. */
export interface FeedEntry {
  readonly id: bigint
  readonly reblogOf: bigint | undefined
}

/** The feed of a list. */
type ListFeed = `list:${bigint}`
export const listFeed = (listId: bigint): ListFeed => `list:${listId}`

/** Whose feed it is: the home of an account, or one of its lists. */
export type FeedKey = AccountId | ListFeed

/** Stands for a feed from one loss of it to the next, while it waits to be made anew. */
export type Generation = string

/**
 * Feeds of homes and lists: sets of statuses' ids, newest first, a cache of what Postgres would answer. Writers may add an entry
 * twice or out of order; `read` sorts and removes doubles. `None` of a feed is not the same as an empty feed.
 */
export class Feeds extends Context.Service<Feeds, {
  /** Adds one entry to many feeds. */
  readonly push: (feeds: ReadonlyArray<FeedKey>, entry: FeedEntry) => Effect.Effect<void>
  /** The whole feed, newest first, or undefined where it was never filled and must be rebuilt. */
  readonly read: (feed: FeedKey) => Effect.Effect<ReadonlyArray<FeedEntry> | undefined>
  /**
   * Comes before Postgres is asked for a feed's entries: notes the generation in the feed, where it goes when the feed
   * goes. All who make the feed anew at the same time have the same one, and so has who comes after one that gave up.
   */
  readonly begin: (feed: FeedKey) => Effect.Effect<Generation>
  /**
   * Adds what Postgres has and marks the feed as filled; entries that fan-out pushed meanwhile stay. With `since` nothing
   * is kept where the feed was dropped or lost after that (what was pushed in between is gone, and what was read is old),
   * or where somebody else filled it.
   */
  readonly fill: (feed: FeedKey, entries: ReadonlyArray<FeedEntry>, since?: Generation) => Effect.Effect<void>
  /** Forgets feeds, which their owners' next reads rebuild. */
  readonly drop: (feeds: ReadonlyArray<FeedKey>) => Effect.Effect<void>
}>()("murmuration/services/feeds/Feeds") {
  static readonly layerMemory = Layer.sync(Feeds, () => {
    interface Feed {
      readonly entries: Array<FeedEntry>
      /** The entries as readers get them, kept from the first read to the next change: most reads find nothing new. */
      contents?: ReadonlyArray<FeedEntry> | undefined
      filled: boolean
      /** When it was last read or filled, in milliseconds since 1970. */
      usedAt: number
      generation?: Generation | undefined
    }
    /** In the order in which they were made, read or filled last. */
    const feeds = new Map<FeedKey, Feed>()
    let bytes = 0
    const remove = (key: FeedKey, feed: Feed) => {
      bytes -= bytesOf(feed.entries.length)
      feeds.delete(key)
    }
    /** The next read of a lost feed rebuilds it. */
    const evict = (kept: Feed | undefined) => {
      if (bytes <= feedsBytesMax) return
      for (const [key, feed] of feeds) {
        if (bytes <= feedsBytesMax) return
        if (feed !== kept) remove(key, feed)
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
      const made: Feed = { entries: [], filled: false, usedAt: 0 }
      feeds.set(key, made)
      bytes += bytesOf(0)
      return made
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

/** Answers how many entries went. */
const trim = (entries: Array<FeedEntry>): number =>
  entries.length > feedEntriesMax + feedEntriesSlack ? entries.splice(0, entries.length - feedEntriesMax).length : 0

const bytesOf = (entries: number) => feedBytes + entries * entryBytes

/**
 * What a feed answers, from its entries in any order: newest first, each once, and everything that belongs between the
 * first and the last; undefined where it was never filled. An entry that was added late stands among older ones when others
 * of its age are trimmed away, so a feed that may have been trimmed says nothing of its oldest entries.
 */
export const contentsOf = (
  entries: ReadonlyArray<FeedEntry>,
  filled: boolean
): ReadonlyArray<FeedEntry> | undefined => {
  if (!filled) return undefined
  const found = sorted(entries)
  return entries.length < feedEntriesMax ? found : found.slice(0, Math.max(0, found.length - feedEntriesSlack))
}

/** The entries as readers must see them: newest first, each id once. */
const sorted = (entries: ReadonlyArray<FeedEntry>): Array<FeedEntry> => {
  if (entries.every(({ id }, at) => at === 0 || id < (entries[at - 1]?.id ?? id))) return [...entries]
  if (entries.every(({ id }, at) => at === 0 || id > (entries[at - 1]?.id ?? id))) return entries.toReversed()
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}
