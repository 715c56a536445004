import { Effect } from "effect"
import {
  Headers,
  type HttpServerError,
  type HttpServerRequest,
  type HttpServerResponse,
  type Multipart
} from "effect/http"
import { excessInTurns } from "../../services/outbound/BoundedJson.ts"
import { plainError } from "../guard/Reply.ts"
import { fromJson, type Json, nest, pairs, Refused } from "./Parameters.ts"

/*
 * Parsing of bodies: the same request with the JSON that endpoints declare as its body, or an error response.
 */

type Request = HttpServerRequest.HttpServerRequest

export const tooLarge = plainError(413, "Request body is too large", { connection: "close" })
export const malformed = (text = "Error occurred while parsing request parameters") => plainError(400, text)

/** Runs a parser; its refusal becomes the response. */
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

/** Returns the declared size of the body in bytes: 0 for none, undefined for a chunked one. */
export const declaredBytes = ({ headers }: Request): number | undefined => {
  const length = headers["content-length"]
  return length === undefined ? headers["transfer-encoding"] === undefined ? 0 : undefined : Number(length)
}

/** Returns the response for a body that could not be read. */
export const unreadableBody = ({ reason }: HttpServerError.HttpServerError): HttpServerResponse.HttpServerResponse =>
  "reason" in reason && reason.reason === "BodyTooLarge" ? tooLarge : malformed()
export const refusalOf = ({ reason }: Multipart.MultipartError) => reason._tag === "Parse" ? malformed() : tooLarge

const [plus, space] = [0x2b, 0x20]

/** Parses an urlencoded body. Plus signs are replaced as bytes: on the text that takes 50 times as long. */
export const form = (request: Request) =>
  request.arrayBuffer.pipe(
    Effect.mapError(unreadableBody),
    Effect.flatMap((buffer) =>
      parse(() => {
        const bytes = Buffer.from(buffer)
        for (let at = 0; at < bytes.length; at++) if (bytes[at] === plus) bytes[at] = space
        return nest(pairs(bytes.toString("utf8")))
      })
    )
  )

/** Size from which parsing yields to other work between its steps, in characters. */
const longCharacters = 65_536

/** Parses a JSON body. */
export const json = Effect.fnUntraced(function*(request: Request) {
  const text = yield* Effect.mapError(request.text, unreadableBody)
  if (text.length <= longCharacters) return yield* parse(() => fromJson(text))
  const excess = yield* excessInTurns(text)
  yield* Effect.yieldNow
  const parameters = yield* parse(() => fromJson(text, excess ?? null))
  yield* Effect.yieldNow
  return parameters
})

/** Merges parameters of the query and the body; the body takes precedence. */
export const merge = (query: Json, body: Json): Json => isObject(query) && isObject(body) ? { ...query, ...body } : body

/** Returns the request with a JSON body that further modifications (a proxy's headers) keep. */
export const withParameters = <E>(request: Request, parameters: Effect.Effect<Json, E>): Request =>
  Object.create(request, {
    headers: { value: Headers.set(request.headers, "content-type", "application/json") },
    text: { value: Effect.map(parameters, (value) => JSON.stringify(value)) },
    json: { value: parameters },
    modify: {
      value: (options: Parameters<Request["modify"]>[0]) => withParameters(request.modify(options), parameters)
    }
  })
