/*
 * Paths of the sign-in by a provider. They are Mastodon's, so that a provider's configuration of a Mastodon server
 * works unchanged.
 */

export const providerPath = "/auth/auth/openid_connect"
export const providerCallbackPath = `${providerPath}/callback`
