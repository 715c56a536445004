import { Context } from "effect"

/** Default of `ResponseSeconds`, the time that clients of Mastodon wait. */
export const defaultResponseSeconds = 5

/**
 * Seconds after which a request without a response, and a command that its account's actor has not begun, get 503
 * (`RESPONSE_SECONDS_MAX`). The arrival of the request's body does not count.
 */
export const ResponseSeconds = Context.Reference<number>("murmuration/services/runtime/ResponseSeconds", {
  defaultValue: () => defaultResponseSeconds
})
