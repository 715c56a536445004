import { Effect, Function } from "effect"
import { HttpServerResponse } from "effect/http"
import { LRUCache } from "lru-cache"
import type { ClientError } from "../../services/Errors.ts"
import { list as wireList, type Ready, ready, type ReadyList } from "../wire/Keys.ts"
import type { Quota } from "./Limits.ts"
import { OneTimeBody } from "./OneTimeBody.ts"

declare const answered: unique symbol

/** What an endpoint answers that promises something, whatever that is. */
interface AnyAnswer extends HttpServerResponse.HttpServerResponse {
  readonly [answered]: (value: never) => unknown
}

/** A response whose body is the JSON of `Wire`: what an endpoint answers that promises `Wire`. */
interface Answer<in out Wire> extends AnyAnswer {
  readonly [answered]: (value: Wire) => Wire
}

/** The answer with one of the alternatives of `Wire`, or with any; where `Wire` is not known, whatever answers. */
export type AnswerAs<Wire> = unknown extends Wire ? AnyAnswer
  : Answer<Wire> | (Wire extends unknown ? Answer<Wire> : never)

declare const refused: unique symbol

/** A response that says why there is no answer; any endpoint may give it. */
export interface Refusal extends HttpServerResponse.HttpServerResponse {
  readonly [refused]: typeof refused
}

interface Head {
  readonly status?: number
  readonly headers?: Record<string, string>
}

const jsonType = "application/json; charset=utf-8"

/**
 * Characters from which a text is made bytes at once. Effect looks how many bytes it takes, and Node makes one string of the
 * headers and the text before it makes bytes: each of that copies a long one.
 */
const longText = 16_384

const long = (make: () => Uint8Array, head?: Head) =>
  HttpServerResponse.setBody(HttpServerResponse.empty({ status: 200, ...head }), new OneTimeBody(make, jsonType))

const text = (body: string, head?: Head) =>
  body.length < longText
    ? HttpServerResponse.text(body, { contentType: jsonType, ...head })
    : long(() => Buffer.from(body), head)

/** JSON that is ready, sent as it stands. */
export function json<Wire>(body: Ready<Wire>, head?: Head): Answer<Wire>
export function json(body: string, head?: Head): HttpServerResponse.HttpServerResponse {
  return text(body, head)
}

/** The JSON of an error. */
export function refusal(body: string, head?: Head): Refusal
export function refusal(body: string, head?: Head): HttpServerResponse.HttpServerResponse {
  return text(body, head)
}

/** The same answer with more headers. */
export const withHeaders: {
  (headers: Record<string, string>): <Given extends AnyAnswer>(answer: Given) => Given
  <Given extends AnyAnswer>(answer: Given, headers: Record<string, string>): Given
} = Function.dual(2, HttpServerResponse.setHeaders)

const [opening, comma, closing] = [0x5b, 0x2c, 0x5d]

/** The list of JSON values that are UTF-8 already, as UTF-8. */
const bytesOf = (items: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = Buffer.allocUnsafe(items.reduce((length, item) => length + item.length + 1, items.length > 0 ? 1 : 2))
  let at = 0
  for (const item of items) {
    whole[at++] = comma
    whole.set(item, at)
    at += item.length
  }
  whole[0] = opening
  whole[whole.length - 1] = closing
  return whole
}

/** A list of ready JSON values with the `Link` header of its page, where there is one. */
export function list<Wire>(items: ReadyList<Wire>, link?: string, status?: number): Answer<ReadonlyArray<Wire>>
export function list(items: ReadyList<unknown>, link?: string, status?: number): HttpServerResponse.HttpServerResponse {
  const head = {
    ...(status === undefined ? undefined : { status }),
    ...(link === undefined ? undefined : { headers: { link } })
  }
  const { bytes } = items
  return bytes === undefined ? text(wireList(items), head) : long(() => bytesOf(bytes()), head)
}

/** An answer without a body, status 204. */
export function nothing(): Answer<void>
export function nothing(): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.empty({ status: 204 })
}

/** An answer without a body, status 200: said to be HTML, as apps expect it that look at the type before the body. */
export function done(): Answer<void>
export function done(): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.text("", { contentType: "text/html; charset=utf-8" })
}

/** A text that browsers keep as a file. */
export function file(body: string, contentType: string, name: string): Answer<string>
export function file(body: string, contentType: string, name: string): HttpServerResponse.HttpServerResponse {
  return HttpServerResponse.text(body, {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"` }
  })
}

/** The empty object, the answer of deletes, clears and dismisses. */
export const empty = json(ready<{}>("{}"))

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
  Unavailable: 503,
  BackendFailed: 503
} satisfies Record<ClientError["_tag"], number>

/** Shows an expected error as clients know it: `{"error": text}` with its status and headers. */
export const error = (failure: ClientError, extra?: Record<string, unknown>) =>
  refusal(
    JSON.stringify({
      error: failure.message,
      ...(failure._tag === "Unprocessable" && failure.details !== undefined ? { details: failure.details } : undefined),
      ...extra
    }),
    { status: statuses[failure._tag], headers: errorHeaders(failure) }
  )

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
  refusal(JSON.stringify({ error: text }), { status, headers })

/** The answer to a request that storage could not serve. */
export const unavailable = Effect.succeed(
  plainError(503, "There was a temporary problem serving your request, please try again", { "retry-after": "5" })
)
