import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { LRUCache } from "lru-cache"
import type { ClientError } from "../../services/Errors.ts"
import type { Quota } from "./Limits.ts"

/** JSON that is ready: a string is sent as it stands, anything else through `JSON.stringify`. */
export const json = (
  body: unknown,
  options?: { readonly status?: number; readonly headers?: Record<string, string> }
) =>
  HttpServerResponse.text(typeof body === "string" ? body : JSON.stringify(body), {
    contentType: "application/json; charset=utf-8",
    ...options
  })

/** Appending makes one string in the end, where `join` would make one of every value, too, and then two of the whole. */
const listOf = (items: ReadonlyArray<string>): string => {
  let text = "["
  for (const item of items) text += text === "[" ? item : `,${item}`
  return text + "]"
}

/** A list of ready JSON values with the `Link` header of its page, where there is one. */
export const list = (items: ReadonlyArray<string>, link?: string, status?: number) =>
  json(listOf(items), {
    ...(status === undefined ? undefined : { status }),
    ...(link === undefined ? undefined : { headers: { link } })
  })

/** The empty object, the answer of deletes, clears and dismisses. */
export const empty = json("{}")

/** Periods end for everybody at once, so that most answers name one of few moments. */
const moments = new LRUCache<number, string>({ max: 16 })

/** A moment as Mastodon writes it in headers, with six decimals. */
const momentText = (millis: number): string => {
  const known = moments.get(millis)
  if (known !== undefined) return known
  const made = new Date(millis).toISOString().replace("Z", "000Z")
  moments.set(millis, made)
  return made
}

/** The headers that tell how much of a limit is left. */
export const limitHeaders = ({ limit, remaining, resetAt }: Quota): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": momentText(resetAt)
})

const statuses = {
  BadRequest: 400,
  Unauthorized: 401,
  NotAllowed: 403,
  RecordNotFound: 404,
  Conflict: 409,
  Gone: 410,
  Unprocessable: 422,
  UnexpectedMentions: 422,
  TooManyRequests: 429,
  Unavailable: 503
} satisfies Record<ClientError["_tag"], number>

/** Shows an expected error as clients know it: `{"error": text}` with its status and headers. */
export const error = (failure: ClientError, extra?: Record<string, unknown>) =>
  json({
    error: failure.message,
    ...(failure._tag === "Unprocessable" && failure.details !== undefined ? { details: failure.details } : undefined),
    ...extra
  }, { status: statuses[failure._tag], headers: errorHeaders(failure) })

const errorHeaders = (failure: ClientError): Record<string, string> => {
  switch (failure._tag) {
    case "Unauthorized":
      return { "www-authenticate": `Bearer realm="Murmuration", error="invalid_token"` }
    case "TooManyRequests":
      return limitHeaders({ limit: failure.limit, remaining: 0, resetAt: failure.resetAt })
    case "Unavailable":
      return { "retry-after": String(failure.retryAfterSeconds) }
    default:
      return {}
  }
}

/** `{"error": text}` for what no handler answered. */
export const plainError = (status: number, text: string, headers: Record<string, string> = {}) =>
  json({ error: text }, { status, headers })

/** The answer to a request that storage could not serve. */
export const unavailable = Effect.succeed(
  plainError(503, "There was a temporary problem serving your request, please try again", { "retry-after": "5" })
)
