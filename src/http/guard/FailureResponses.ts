import { type Cause, Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { routeOf } from "../../services/runtime/CurrentRoute.ts"
import { ClientError } from "../../services/runtime/Errors.ts"
import * as Reply from "./Reply.ts"

const isClientError = Schema.is(ClientError)

/**
 * Returns the response to a failed request. Expected errors map by class. A request that does not decode is a 404 for
 * an invalid path, otherwise a 422. Any other failure stays a defect.
 */
export const failureResponse = (failure: unknown) => {
  // Bodies that cannot be read fail with their response.
  if (HttpServerResponse.isHttpServerResponse(failure)) return Effect.succeed(failure)
  if (isClientError(failure)) return Effect.succeed(Reply.error(failure))
  if (failure instanceof HttpApiError.HttpApiSchemaError) {
    return Effect.succeed(
      failure.kind === "Params"
        ? Reply.plainError(404, "Record not found")
        : Reply.plainError(422, `Validation failed: ${parameterOf(failure) ?? "Request"} is invalid`)
    )
  }
  return Effect.die(failure)
}

/** Logs a failure that no client expects, with its cause and the route of the request. */
export const logFailure = (cause: Cause.Cause<unknown>) => withRoute(Effect.logError("a request failed", cause))

/** Adds the route of the request to log lines. */
export const withRoute = <A, E, R>(logging: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber(({ context }) => Effect.annotateLogs(logging, { route: routeOf(context) ?? "none" }))

/** Returns the parameter that does not decode, as clients write it: `poll[options][0]`. */
const parameterOf = (failure: HttpApiError.HttpApiSchemaError): string | undefined => {
  const [, path] = /^[ \t]*at (\[.+\])$/m.exec(failure.cause.message.slice(-messageCharactersMax)) ?? []
  if (path === undefined) return undefined
  const [first, ...rest] = Array.from(
    path.matchAll(/\["?([^"[\]]*)"?\]/g),
    ([, name = ""]) => name.slice(0, nameCharactersMax)
  )
  return [first, ...rest.map((name) => `[${name}]`)].join("")
}

/** Maximum characters of a parameter's name in the response. */
const nameCharactersMax = 100
/**
 * Characters read from the end of an error's text. The text contains the value, and may be as long as the body; the
 * path is at its end.
 */
const messageCharactersMax = 2_000
