/*
 * Limits on data of remote accounts. They only bound storage and rendering. Each is wider than the limit for local
 * users (`ContentLimits.ts`), so that no remote profile or post is truncated here.
 */

/** Maximum pinned posts of an account. */
export const foreignPinsMax = 50
/** Maximum hashtags on a profile. */
export const foreignFeaturedTagsMax = 100
/** Maximum media of a post, and maximum characters of a description. */
export const foreignAttachmentsMax = 16
export const foreignDescriptionCharactersMax = 10_000
/** Maximum accounts that a post's policy names individually, per interaction. */
export const foreignSinglesMax = 100
/** Maximum local accounts that a remote account follows. */
export const foreignFollowsMax = 1_000_000
