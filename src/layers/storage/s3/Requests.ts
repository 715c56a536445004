import { Clock, Effect, Option, Schedule, Schema, type Stream } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { StorageFailed } from "../../../services/media/Storage.ts"
import type { S3Settings } from "../../environment/S3Settings.ts"
import { withoutTrailingSlashes } from "../../environment/TrailingSlashes.ts"
import { encoded, sha256, signed } from "./Signature.ts"
import { leaves, textAt } from "./XmlTexts.ts"

/** Timeout for the start of S3's response, after the sent body, and for a text response, in seconds. */
const defaultResponseSeconds = 60
/** Attempts of a request while S3 is busy, and the first delay between them. */
const attemptsMax = 4
const firstPause = "100 millis"

interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE"
  /** The object's key; undefined for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  /** Headers in lower case; all are signed. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/** S3's response unless it is busy; 404 is a response, too. */
interface S3Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: Effect.Effect<string, StorageFailed>
  readonly stream: Stream.Stream<Uint8Array, unknown>
}

/** S3 was busy or did not respond, so a retry may succeed. */
class Busy extends Schema.TaggedError<Busy>()("Busy", { text: Schema.String }) {}

const isBusy = (status: number) => (status >= 500 && status !== 501) || status === 429 || status === 408

const empty = sha256("")

/** Returns the URL of an object, with the bucket in the path or in the host name. */
export const addressOf = (
  { bucket, endpoint, pathStyle }: Pick<S3Settings, "bucket" | "endpoint" | "pathStyle">,
  { key, query = {} }: S3Request
): URL => {
  const url = new URL(endpoint)
  const base = withoutTrailingSlashes(url.pathname)
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`
  const path = [...(pathStyle ? [bucket] : []), ...(key === undefined ? [] : key.split("/"))].map(encoded)
  url.pathname = `${base}/${path.join("/")}`
  // Must match the signed form: `URLSearchParams` would write a space as `+`.
  url.search = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&")
  return url
}

/** Describes a refusal in S3's own words, which never contain a secret. */
const reason = Effect.fnUntraced(function*(request: S3Request, { status, text }: S3Response) {
  const found = yield* Effect.orElseSucceed(Effect.flatMap(text, leaves), () => [])
  const code = textAt(found, "Error/Code") ?? "no reason given"
  return `S3 responded to ${request.method} with ${status}: ${code} ${textAt(found, "Error/Message") ?? ""}`.trim()
})

/** Builds signed requests to one bucket. */
export const make = Effect.fnUntraced(function*(settings: S3Settings) {
  const client = yield* HttpClient.HttpClient

  const sent = Effect.fnUntraced(function*(request: S3Request) {
    const url = addressOf(settings, request)
    const at = new Date(yield* Clock.currentTimeMillis)
    const body = typeof request.body === "string" ? new TextEncoder().encode(request.body) : request.body
    const bodyHash = body === undefined ? empty : sha256(body)
    const headers = {
      ...(body !== undefined && { "content-type": "application/octet-stream" }),
      ...request.headers
    }
    const response: HttpClientResponse.HttpClientResponse = yield* client.execute(
      // A string, because parameters of a URL object would be encoded differently from the signed form.
      HttpClientRequest.make(request.method)(url.href, {
        headers: {
          ...(yield* signed(settings, { method: request.method, url, headers, bodyHash }, at)),
          "accept-encoding": "identity"
        },
        ...(body !== undefined && { body: HttpBody.uint8Array(body, headers["content-type"]) })
      })
    ).pipe(
      Effect.timeout(`${defaultResponseSeconds} seconds`),
      Effect.mapError((error) => new Busy({ text: `S3 did not respond: ${error.message}` }))
    )
    const result: S3Response = {
      status: response.status,
      headers: response.headers,
      text: response.text.pipe(
        Effect.timeout(`${defaultResponseSeconds} seconds`),
        Effect.mapError(({ message }) => new StorageFailed({ text: `S3 broke off: ${message}` }))
      ),
      stream: response.stream
    }
    if (isBusy(result.status)) return yield* new Busy({ text: yield* reason(request, result) })
    return result
  })

  /** Sends a request, and retries it while S3 is busy; every request here is idempotent. */
  const ask = (request: S3Request): Effect.Effect<S3Response, StorageFailed> =>
    sent(request).pipe(
      Effect.retry({ times: attemptsMax - 1, schedule: Schedule.jittered(Schedule.exponential(firstPause)) }),
      Effect.catchTag("Busy", ({ text }) => Effect.fail(new StorageFailed({ text }))),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      // A redirect would send the signature to another host.
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
    )

  /** Returns a successful response; none if there is no such object. Fails on any other status. */
  const find = Effect.fnUntraced(function*(request: S3Request) {
    const response = yield* ask(request)
    if (response.status >= 200 && response.status < 300) return Option.some(response)
    const text = yield* reason(request, response)
    return response.status === 404 ? Option.none<S3Response>() : yield* new StorageFailed({ text })
  })

  /** Returns a successful response; fails on any other status. */
  const need = Effect.fnUntraced(function*(request: S3Request) {
    const response = yield* ask(request)
    if (response.status >= 200 && response.status < 300) return response
    return yield* new StorageFailed({ text: yield* reason(request, response) })
  })

  /** Returns the XML document of a successful response; one that contains "Error" fails despite its status of 200. */
  const documentIn = Effect.fnUntraced(function*(request: S3Request, response: S3Response) {
    const found = yield* Effect.flatMap(response.text, leaves).pipe(
      Effect.catchTag(
        "XmlError",
        ({ message }) => Effect.fail(new StorageFailed({ text: `S3's response: ${message}` }))
      )
    )
    const code = textAt(found, "Error/Code")
    return code === undefined
      ? found
      : yield* new StorageFailed({ text: `S3 responded to ${request.method} with ${code}` })
  })

  const document = Effect.fnUntraced(function*(request: S3Request) {
    return yield* documentIn(request, yield* need(request))
  })

  /** Returns false if S3 refuses the request, as without a permission. Fails while S3 is busy or does not respond. */
  const isDone = Effect.fnUntraced(function*(request: S3Request) {
    const response = yield* ask(request)
    if (response.status < 200 || response.status >= 300) return false
    yield* documentIn(request, response)
    return true
  })

  return { find, need, document, isDone }
})
export type Requests = Effect.Success<ReturnType<typeof make>>
