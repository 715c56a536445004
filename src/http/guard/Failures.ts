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
        : Reply.plainError(422, `Validation failed: ${firstLine(failure)}`)
    )
  }
  return Effect.die(failure)
}

/** What is told of a value that does not decode, which may be as long as the body. */
const textCharactersMax = 500

const firstLine = (failure: HttpApiError.HttpApiSchemaError) =>
  failure.cause.message.split("\n", 1)[0]?.slice(0, textCharactersMax) ?? "invalid"
