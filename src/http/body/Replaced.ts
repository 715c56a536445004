import { Effect } from "effect"
import { Headers, type HttpServerRequest } from "effect/http"
import { plainError } from "../guard/Reply.ts"
import { type Json, Refused } from "./Parameters.ts"

/*
 * What reading a body comes to: the same request with the JSON that endpoints declare in place of its body, or an answer
 * that refuses it.
 */

type Request = HttpServerRequest.HttpServerRequest

export const tooLarge = plainError(413, "Request body is too large", { connection: "close" })
export const malformed = (text = "Error occurred while parsing request parameters") => plainError(400, text)

/** A parser's refusal as the answer to the request. */
export const parse = <A>(parser: () => A) =>
  Effect.try({
    try: parser,
    catch: (error) => malformed(error instanceof Refused ? error.text : undefined)
  })

export const mediaType = ({ headers }: Request): string =>
  (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

export const isMultipart = (request: Request): boolean => mediaType(request) === "multipart/form-data"

export const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Parameters of the query count where the body does not say otherwise. */
export const merge = (query: Json, body: Json): Json => isObject(query) && isObject(body) ? { ...query, ...body } : body

/** The same request with a JSON body, which whoever modifies it further (a proxy's headers) keeps. */
export const withParameters = <E>(request: Request, parameters: Effect.Effect<Json, E>): Request =>
  Object.create(request, {
    headers: { value: Headers.set(request.headers, "content-type", "application/json") },
    text: { value: Effect.map(parameters, (value) => JSON.stringify(value)) },
    json: { value: parameters },
    modify: {
      value: (options: Parameters<Request["modify"]>[0]) => withParameters(request.modify(options), parameters)
    }
  })

/** The same for a body that was read: a token among its parameters counts as one in the header (RFC 6750, 2.2). */
export const withJson = (request: Request, parameters: Json): Request => {
  const token = isObject(parameters) ? parameters["access_token"] ?? parameters["bearer_token"] : undefined
  return withParameters(
    typeof token === "string" && request.headers["authorization"] === undefined
      ? request.modify({ headers: Headers.set(request.headers, "authorization", `Bearer ${token}`) })
      : request,
    Effect.succeed(parameters)
  )
}
