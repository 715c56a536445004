import { Context, type Effect } from "effect"
import type { Unavailable } from "../../Errors.ts"
import type { AccountId, StatusId } from "../../Ids.ts"
import type { Implausible } from "../ObjectFetcher.ts"

/** A post as its origin serves it, and whether it is kept although it may concern nobody here. */
interface Import {
  readonly author: AccountId
  readonly uri: string
  /** JSON. */
  readonly document: string
  readonly asked: boolean
}

/** When a collection was read, in milliseconds since 1970, and how often the account had told of changes by then. */
export interface CollectionReading {
  readonly readAt: number
  readonly changes: number
}

/** Hands posts that were fetched to their authors' actors, who alone write what they publish. */
export class FetchedPosts extends Context.Service<FetchedPosts, {
  /** Answers the status, stored by now; fails where it may not be here. */
  readonly store: (post: Import) => Effect.Effect<StatusId, Implausible | Unavailable>
  /**
   * What the account shows on top of its profile, its own posts in that order, and nothing else any more; false where the account
   * changed it since it was read, so that it is to be read again.
   */
  readonly feature: (
    account: AccountId,
    read: CollectionReading,
    statusIds: ReadonlyArray<StatusId>
  ) => Effect.Effect<boolean, Unavailable>
  /** The hashtags on its profile, without #; the same. */
  readonly featureTags: (
    account: AccountId,
    read: CollectionReading,
    names: ReadonlyArray<string>
  ) => Effect.Effect<boolean, Unavailable>
}>()("murmuration/services/federation/fetching/FetchedPosts") {}
