/**
 * Returns the header of a deprecated operation (RFC 9745); `since` is the day on which Mastodon deprecated it (S-308).
 */
export const deprecated = (since: `${number}-${number}-${number}`): Record<string, string> => ({
  deprecation: `@${new Date(since).getTime() / 1000}`
})
