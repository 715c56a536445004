import { Context, type Effect } from "effect"
import type { AccountId, StatusId } from "../../database/Ids.ts"
import type { Unavailable } from "../../runtime/Errors.ts"
import type { Implausible } from "../ObjectFetcher.ts"

/** A post as its origin serves it. `asked` keeps it even if no local account is concerned. */
interface Import {
  readonly author: AccountId
  readonly uri: string
  /** JSON. */
  readonly document: string
  readonly asked: boolean
}

/**
 * Time of a collection's reading, in milliseconds since 1970, and the number of changes that the account had sent
 * before it.
 */
export interface CollectionReading {
  readonly readAt: number
  readonly changes: number
}

/** Passes fetched posts to their authors' actors, the only writers of their posts. */
export class FetchedPosts extends Context.Service<FetchedPosts, {
  /** Returns the status once it is stored; fails if the post may not be stored. */
  readonly store: (post: Import) => Effect.Effect<StatusId, Implausible | Unavailable>
  /**
   * Replaces the account's pins with its own posts among these, in this order. Returns false if the account changed its
   * pins after the reading, which must then be repeated.
   */
  readonly feature: (
    account: AccountId,
    read: CollectionReading,
    statusIds: ReadonlyArray<StatusId>
  ) => Effect.Effect<boolean, Unavailable>
  /** Replaces the account's featured hashtags (without #); returns false as `feature` does. */
  readonly featureTags: (
    account: AccountId,
    read: CollectionReading,
    names: ReadonlyArray<string>
  ) => Effect.Effect<boolean, Unavailable>
}>()("murmuration/services/federation/fetching/FetchedPosts") {}
