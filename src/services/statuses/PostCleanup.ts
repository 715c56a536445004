import { Effect, Schema } from "effect"
import { type Unprocessable, validationFailed } from "../runtime/Errors.ts"

/** Ages after which posts can be deleted, in days, as in Mastodon. */
export const cleanupAges = [7, 14, 30, 60, 90, 180, 365, 730] as const
/** Maximum of the counts that keep a post. */
const countMax = 1_000_000

/** Policy for the automated deletion of a user's old posts. Each `keep` flag exempts posts. */
export const PostCleanup = Schema.Struct({
  enabled: Schema.Boolean,
  minAgeDays: Schema.Int,
  keepDirect: Schema.Boolean,
  keepPinned: Schema.Boolean,
  keepPolls: Schema.Boolean,
  keepMedia: Schema.Boolean,
  /** Keeps posts that the author favourited or bookmarked. */
  keepOwnFavourites: Schema.Boolean,
  keepOwnBookmarks: Schema.Boolean,
  /** Keeps posts with at least this number of favourites or boosts; null for no such rule. */
  minFavourites: Schema.NullOr(Schema.Int),
  minReblogs: Schema.NullOr(Schema.Int)
})
export type PostCleanup = typeof PostCleanup.Type

/** Policy of users who have none. */
export const defaultCleanup: PostCleanup = {
  enabled: false,
  minAgeDays: 14,
  keepDirect: true,
  keepPinned: true,
  keepPolls: false,
  keepMedia: false,
  keepOwnFavourites: true,
  keepOwnBookmarks: true,
  minFavourites: null,
  minReblogs: null
}

/** Refuses ages and counts that are not offered. */
export const checkedCleanup = (policy: PostCleanup): Effect.Effect<void, Unprocessable> => {
  const isCount = (count: number | null) => count === null || (count >= 1 && count <= countMax)
  return !cleanupAges.some((age) => age === policy.minAgeDays)
    ? Effect.fail(validationFailed("Minimum age is not included in the list"))
    : !isCount(policy.minFavourites) || !isCount(policy.minReblogs)
    ? Effect.fail(validationFailed("Count must be greater than or equal to 1"))
    : Effect.void
}
