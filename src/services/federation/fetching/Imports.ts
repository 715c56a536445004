import { Context, type Effect } from "effect"
import type { Unavailable } from "../../Errors.ts"
import type { AccountId, StatusId } from "../../Ids.ts"
import type { Implausible } from "../Fetches.ts"

/** A post as its origin serves it, and whether it is kept although it may concern nobody here. */
export interface Import {
  readonly author: AccountId
  readonly uri: string
  /** JSON. */
  readonly document: string
  readonly asked: boolean
}

/** Hands posts that were fetched to their authors' actors, who alone write what they publish. */
export class Imports extends Context.Service<Imports, {
  /** Answers the status, stored by now; fails where it may not be here. */
  readonly store: (post: Import) => Effect.Effect<StatusId, Implausible | Unavailable>
  /** What the account shows on top of its profile now, its own posts in that order, and nothing else any more. */
  readonly feature: (account: AccountId, statusIds: ReadonlyArray<StatusId>) => Effect.Effect<void, Unavailable>
  /** The hashtags on its profile now, without #. */
  readonly featureTags: (account: AccountId, names: ReadonlyArray<string>) => Effect.Effect<void, Unavailable>
}>()("murmuration/services/federation/fetching/Imports") {}
