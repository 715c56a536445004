import { Clock, Context, Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { OperatorError } from "../../src/layers/OperatorError.ts"

/** Seconds to wait if a busy server does not name a time. */
const retrySeconds = 5
/** Maximum retries with a busy server. */
const busyTriesMax = 12

const Made = Schema.Struct({ id: Schema.String })

type Method = "POST" | "PATCH"

/** API client that obeys rate limits. */
export class Client extends Context.Service<Client, {
  /** Sends a request until it gets a response; returns the id in it. The key makes a repetition harmless. */
  readonly send: (
    method: Method,
    path: string,
    token: string,
    body: Record<string, unknown>,
    key: string
  ) => Effect.Effect<string, OperatorError>
  /** Number of waits for rate limits, and their total duration in milliseconds. */
  readonly waits: Effect.Effect<{ readonly times: number; readonly millis: number }>
}>()("murmuration/demo/Client") {
  /** `url` has no trailing slash. */
  static readonly layer = (url: string) =>
    Layer.effect(
      Client,
      Effect.gen(function*() {
        const http = yield* HttpClient.HttpClient
        const waits = { times: 0, millis: 0 }

        const wait = (millis: number) => {
          waits.times++
          waits.millis += millis
          return Effect.sleep(millis)
        }
        const ask = (method: Method, path: string, token: string, body: Record<string, unknown>, key: string) =>
          http.execute(
            HttpClientRequest.make(method)(url + path).pipe(
              HttpClientRequest.bearerToken(token),
              HttpClientRequest.setHeader("idempotency-key", key),
              HttpClientRequest.bodyJsonUnsafe(body)
            )
          )

        const send = Effect.fn("Client.send")(
          function*(...request: Parameters<typeof ask>) {
            const [method, path] = request
            for (let busy = 0;;) {
              const response = yield* ask(...request)
              if (response.status === 200) return (yield* Schema.decodeUnknownEffect(Made)(yield* response.json)).id
              if (response.status === 429) {
                yield* wait(yield* untilReset(response))
              } else if (response.status === 503 && busy++ < busyTriesMax) {
                yield* wait(1000 * Number(response.headers["retry-after"] ?? retrySeconds))
              } else {
                const text = yield* response.text
                return yield* new OperatorError({
                  message: `${method} ${path} was answered with ${response.status}: ${text}`
                })
              }
            }
          },
          Effect.catchTags({
            HttpClientError: ({ message }) =>
              new OperatorError({ message: `There is no server at ${url}: ${message}` }),
            SchemaError: ({ message }) => new OperatorError({ message: `${url} is no such server: ${message}` })
          })
        )
        return Client.of({ send, waits: Effect.sync(() => ({ ...waits })) })
      })
    )
}

/** Returns the milliseconds until the rate limit resets. */
const untilReset = Effect.fnUntraced(function*({ headers }: HttpClientResponse.HttpClientResponse) {
  const reset = Date.parse(headers["x-ratelimit-reset"] ?? "")
  const now = yield* Clock.currentTimeMillis
  return Number.isNaN(reset) ? retrySeconds * 1000 : Math.max(100, reset - now)
})
