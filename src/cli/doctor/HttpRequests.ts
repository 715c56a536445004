import { Effect } from "effect"
import type { HttpClientRequest } from "effect/http"
import { FetchHttpClient, HttpClient } from "effect/http"
import { OperatorError } from "../../layers/OperatorError.ts"

const timeout = "5 seconds"

const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.cause === undefined ? error.message : reasonOf(error.cause)) : String(error)

/** Sends a request and returns status and body; fails with the reason if nothing responds within five seconds. */
export const respond = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const response = yield* client.execute(request)
    return { status: response.status, text: yield* response.text }
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => new OperatorError({ message: `${request.url} did not respond within ${timeout}` })
    }),
    Effect.mapError((error) =>
      error instanceof OperatorError
        ? error
        : new OperatorError({ message: `${request.url} did not respond: ${reasonOf(error)}` })
    ),
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
    Effect.provide(FetchHttpClient.layer)
  )
