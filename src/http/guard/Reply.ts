import { Effect, Function } from "effect"
import { HttpServerResponse } from "effect/http"
import { LRUCache } from "lru-cache"
import type { ClientError } from "../../services/runtime/Errors.ts"
import { asJsonOf, type JsonList, type JsonOf, list as wireList } from "../wire/Keys.ts"
import type { Quota } from "./Limits.ts"
import { OneTimeBody } from "./OneTimeBody.ts"

declare const wireType: unique symbol

/** A typed response of an endpoint, of any type. */
interface AnyResponse extends HttpServerResponse.HttpServerResponse {
  readonly [wireType]: (value: never) => unknown
}

/** A response whose body is the JSON of `Wire`, for endpoints that declare `Wire`. */
interface TypedResponse<in out Wire> extends AnyResponse {
  readonly [wireType]: (value: Wire) => Wire
}

/** A response with one of the alternatives of `Wire`, or with their union; any typed response if `Wire` is unknown. */
export type ResponseAs<Wire> = unknown extends Wire ? AnyResponse
  : TypedResponse<Wire> | (Wire extends unknown ? TypedResponse<Wire> : never)

declare const refused: unique symbol

/** An error response, which any endpoint may return. */
export interface Refusal extends HttpServerResponse.HttpServerResponse {
  readonly [refused]: typeof refused
}

interface Head {
  readonly status?: number
  readonly headers?: Record<string, string>
}

const jsonType = "application/json; charset=utf-8"

/**
 * Length from which a text is encoded at once, in characters. Effect computes the byte length first, and Node
 * concatenates headers and text before encoding: each copies a long text.
 */
const longText = 16_384

const long = (make: () => Uint8Array, head?: Head) =>
  HttpServerResponse.setBody(HttpServerResponse.empty({ status: 200, ...head }), new OneTimeBody(make, jsonType))

const text = (body: string, head?: Head) =>
  body.length < longText
    ? HttpServerResponse.text(body, { contentType: jsonType, ...head })
    : long(() => Buffer.from(body), head)

/** Responds with serialised JSON as it is. */
export function json<Wire>(body: JsonOf<Wire>, head?: Head): TypedResponse<Wire>
export function json(body: string, head?: Head): HttpServerResponse.HttpServerResponse {
  return text(body, head)
}

/** Responds with the JSON of an error. */
export function refusal(body: string, head?: Head): Refusal
export function refusal(body: string, head?: Head): HttpServerResponse.HttpServerResponse {
  return text(body, head)
}

/** Adds headers to a response. */
export const withHeaders: {
  (headers: Record<string, string>): <Given extends AnyResponse>(response: Given) => Given
  <Given extends AnyResponse>(response: Given, headers: Record<string, string>): Given
} = Function.dual(2, HttpServerResponse.setHeaders)

const [opening, comma, closing] = [0x5b, 0x2c, 0x5d]

/** Joins JSON values in UTF-8 into a JSON list. */
const bytesOf = (items: ReadonlyArray<Uint8Array>): Uint8Array => {
  const list = Buffer.allocUnsafe(items.reduce((length, item) => length + item.length + 1, items.length > 0 ? 1 : 2))
  let at = 0
  for (const item of items) {
    list[at++] = comma
    list.set(item, at)
    at += item.length
  }
  list[0] = opening
  list[list.length - 1] = closing
  return list
}

/** Responds with a list of serialised JSON values, with a `Link` header if one is given. */
export function list<Wire>(items: JsonList<Wire>, link?: string, status?: number): TypedResponse<ReadonlyArray<Wire>>
export function list(items: JsonList<unknown>, link?: string, status?: number): HttpServerResponse.HttpServerResponse {
  const head = {
    ...(status === undefined ? undefined : { status }),
    ...(link === undefined ? undefined : { headers: { link } })
  }
  const { bytes } = items
  return bytes === undefined ? text(wireList(items), head) : long(() => bytesOf(bytes()), head)
}

/** Responds with status 204 and no body. */
export function nothing(): TypedResponse<void>
export function nothing(): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.empty({ status: 204 })
}

/** Responds with status 200 and an empty body. Its type is HTML, for apps that look at the type before the body. */
export function done(): TypedResponse<void>
export function done(): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.text("", { contentType: "text/html; charset=utf-8" })
}

/** Responds with a text that browsers save as a file. */
export function file(body: string, contentType: string, name: string): TypedResponse<string>
export function file(body: string, contentType: string, name: string): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.text(body, {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"` }
  })
}

/** Response with the empty object, as for deletes, clears and dismisses. */
export const empty = json(asJsonOf<{}>("{}"))

/** Cache of formatted times: periods end for all callers at once, so most responses have one of few values. */
const moments = new LRUCache<number, string>({ max: 16 })

/** Formats a time as Mastodon's headers do, with six decimals. */
const momentText = (millis: number): string => {
  const known = moments.get(millis)
  if (known !== undefined) return known
  const formatted = new Date(millis).toISOString().replace("Z", "000Z")
  moments.set(millis, formatted)
  return formatted
}

/** Returns the headers that tell how much of a limit remains. */
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
  Unavailable: 503,
  BackendFailed: 503
} satisfies Record<ClientError["_tag"], number>

/** Renders an expected error for clients: `{"error": text}` with its status and headers. */
export const error = (failure: ClientError, extra?: Record<string, unknown>) =>
  refusal(
    JSON.stringify({
      error: failure.message,
      ...(failure._tag === "Unprocessable" && failure.details !== undefined ? { details: failure.details } : undefined),
      ...extra
    }),
    { status: statuses[failure._tag], headers: errorHeaders(failure) }
  )

/** Returns the headers of an expected error, in JSON and on a page. */
export const errorHeaders = (failure: ClientError): Record<string, string> => {
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

/** Renders `{"error": text}` for requests without a handler. */
export const plainError = (status: number, text: string, headers: Record<string, string> = {}) =>
  refusal(JSON.stringify({ error: text }), { status, headers })

/** Response to a request that could not be served because storage is unavailable. */
export const unavailable = Effect.succeed(
  plainError(503, "There was a temporary problem serving your request, please try again", { "retry-after": "5" })
)
