import { Context, Effect, Layer } from "effect"
import type { AccountId } from "../Ids.ts"

/** Entries that a feed is trimmed to, the last that were added (limits-and-rates.md section 5). */
export const feedEntriesMax = 800
/** Entries that a feed may hold beyond that before it is trimmed. */
export const feedEntriesSlack = 40
/** A feed with this many entries was filled by fan-out alone and needs no rebuild. */
export const feedEntriesWhole = 400

/** A status in a feed; `reblogOf` is the original where the status is a reblog. */
export interface FeedEntry {
  readonly id: bigint
  readonly reblogOf: bigint | undefined
}

/**
 * Home feeds: sets of statuses' ids, newest first, a cache of what Postgres would answer. Writers may add an entry
 * twice or out of order; `read` sorts and removes doubles. `None` of a feed is not the same as an empty feed.
 */
export class Feeds extends Context.Service<Feeds, {
  /** Adds one entry to the feeds of many accounts. */
  readonly push: (accounts: ReadonlyArray<AccountId>, entry: FeedEntry) => Effect.Effect<void>
  /** The whole feed, newest first, or undefined where it was never filled and must be rebuilt. */
  readonly read: (account: AccountId) => Effect.Effect<ReadonlyArray<FeedEntry> | undefined>
  /** Adds what Postgres has and marks the feed as filled; entries that fan-out pushed meanwhile stay. */
  readonly fill: (account: AccountId, entries: ReadonlyArray<FeedEntry>) => Effect.Effect<void>
  /** Forgets feeds, which their owners' next reads rebuild. */
  readonly drop: (accounts: ReadonlyArray<AccountId>) => Effect.Effect<void>
}>()("murmuration/services/feeds/Feeds") {
  static readonly layerMemory = Layer.sync(Feeds, () => {
    const feeds = new Map<AccountId, { entries: Array<FeedEntry>; filled: boolean }>()
    const feedOf = (account: AccountId) => {
      const found = feeds.get(account)
      if (found !== undefined) return found
      const made = { entries: [], filled: false }
      feeds.set(account, made)
      return made
    }
    return Feeds.of({
      push: (accounts, entry) =>
        Effect.sync(() => {
          for (const account of accounts) {
            const feed = feedOf(account)
            feed.entries.push(entry)
            trim(feed.entries)
          }
        }),
      read: (account) =>
        Effect.sync(() => {
          const feed = feeds.get(account)
          return feed === undefined ? undefined : contentsOf(feed.entries, feed.filled)
        }),
      fill: (account, entries) =>
        Effect.sync(() => {
          const feed = feedOf(account)
          feed.entries.unshift(...entries.toReversed())
          feed.filled = true
          trim(feed.entries)
        }),
      drop: (accounts) =>
        Effect.sync(() => {
          for (const account of accounts) feeds.delete(account)
        })
    })
  })
}

const trim = (entries: Array<FeedEntry>) => {
  if (entries.length > feedEntriesMax + feedEntriesSlack) entries.splice(0, entries.length - feedEntriesMax)
}

/**
 * What a feed answers, from its entries in any order: newest first, each once, and everything that belongs between the
 * first and the last; undefined where it is not whole. An entry that was added late stands among older ones when others
 * of its age are trimmed away, so a feed that may have been trimmed says nothing of its oldest entries.
 */
export const contentsOf = (
  entries: ReadonlyArray<FeedEntry>,
  filled: boolean
): ReadonlyArray<FeedEntry> | undefined => {
  const found = sorted(entries)
  if (!filled && found.length < feedEntriesWhole) return undefined
  return entries.length < feedEntriesMax ? found : found.slice(0, Math.max(0, found.length - feedEntriesSlack))
}

/** The entries as readers must see them: newest first, each id once. */
export const sorted = (entries: ReadonlyArray<FeedEntry>): Array<FeedEntry> => {
  if (entries.every(({ id }, at) => at === 0 || id < (entries[at - 1]?.id ?? id))) return [...entries]
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}
