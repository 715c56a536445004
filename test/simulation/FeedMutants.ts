import { Effect } from "effect"
import type { FeedEntry, FeedKey } from "../../src/services/feeds/Feeds.ts"
import type { Mutant } from "./Mutant.ts"

/** Writes feeds after the transaction with the cursor: a crash in between loses a slice. */
const cursorFirst: Mutant = {
  name: "the cursor is committed before the slice",
  mutation: {
    feeds: (feeds, sql) => ({ ...feeds, push: (accounts, entry) => sql.afterCommit(feeds.push(accounts, entry)) })
  },
  breaks: /^I3: .* lacks/,
  foundAt: 1,
  seedsMax: 30
}

/** Invalidates only the home after a change: the reader's lists stay stale. */
const listKept: Mutant = {
  name: "a list keeps posts of unfollowed accounts",
  mutation: {
    feeds: (feeds) => ({ ...feeds, drop: (keys) => feeds.drop(keys.filter((key) => typeof key === "bigint")) })
  },
  breaks: /^I3: the list/,
  foundAt: 1,
  seedsMax: 30
}

/** A feed that keeps duplicates of a repeated slice. */
const listFeed: Mutant = {
  name: "a feed's insert is not a set",
  mutation: {
    store: (feeds) => {
      const pushed = new Map<FeedKey, ReadonlyArray<FeedEntry>>()
      const forget = (feed: FeedKey) => pushed.delete(feed)
      return {
        ...feeds,
        push: (accounts, entry) => {
          for (const account of accounts) pushed.set(account, [...(pushed.get(account) ?? []), entry])
          return feeds.push(accounts, entry)
        },
        read: (account) =>
          Effect.map(feeds.read(account), (found) => {
            const written = pushed.get(account) ?? []
            const again = written.filter(({ id }, at) => written.findIndex((entry) => entry.id === id) < at)
            return found && [...found, ...again].toSorted((a, b) => a.id < b.id ? 1 : -1)
          }),
        drop: (accounts) => Effect.tap(feeds.drop(accounts), Effect.sync(() => accounts.forEach(forget)))
      }
    }
  },
  breaks: /^I3: .* twice/,
  foundAt: 1,
  seedsMax: 30
}

export const feedMutants: ReadonlyArray<Mutant> = [cursorFirst, listFeed, listKept]
