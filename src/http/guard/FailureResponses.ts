import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { ClientError } from "../../services/Errors.ts"
import * as Reply from "./Reply.ts"

const isClientError = Schema.is(ClientError)

/**
 * The answer to a failed request: expected errors by their class; a request that does not decode is a missing record
 * where its path is wrong, else not valid; anything else stays a failure.
 */
export const answerFailure = (failure: unknown) => {
  // What could not be read is answered by who reads bodies.
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

/** The parameter that does not decode, as it is sent: `poll[options][0]`. */
const parameterOf = (failure: HttpApiError.HttpApiSchemaError): string | undefined => {
  const [, path] = /^[ \t]*at (\[.+\])$/m.exec(failure.cause.message.slice(-messageCharactersMax)) ?? []
  if (path === undefined) return undefined
  const [first, ...rest] = Array.from(
    path.matchAll(/\["?([^"[\]]*)"?\]/g),
    ([, name = ""]) => name.slice(0, nameCharactersMax)
  )
  return [first, ...rest.map((name) => `[${name}]`)].join("")
}

/** Characters of a parameter's name that are told. */
const nameCharactersMax = 100
/** Characters of an error's text, which holds the value and may be as long as the body; the place stands at its end. */
const messageCharactersMax = 2_000
