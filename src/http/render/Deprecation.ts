/**
 * The header of an operation that clients should leave (RFC 9745); `since` is the day on which Mastodon deprecated it
 * (S-308).
 */
export const deprecated = (since: `${number}-${number}-${number}`): Record<string, string> => ({
  deprecation: `@${new Date(since).getTime() / 1000}`
})
