/*
 * Bounds of what accounts of other servers say of themselves. They keep what is stored and rendered small, and nothing
 * else: each is wider than what people here may do (`ContentLimits.ts`), so that no profile or post loses parts here.
 */

/** Pinned posts of an account. */
export const foreignPinsMax = 50
/** Hashtags on a profile. */
export const foreignFeaturedTagsMax = 100
/** Files of a post, and characters of the description of one. */
export const foreignAttachmentsMax = 16
export const foreignDescriptionCharactersMax = 10_000
/** Accounts that the policy of a post names one by one, for one interaction. */
export const foreignSinglesMax = 100
/** Accounts of this server that an account follows. */
export const foreignFollowsMax = 1_000_000
