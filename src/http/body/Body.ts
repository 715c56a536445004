import { ByteSize, Effect, Stream } from "effect"
import { Headers, HttpMethod, HttpRouter, HttpServerRequest, type HttpServerResponse, Multipart } from "effect/http"
import { plainError } from "../guard/Reply.ts"
import { flatten, fromJson, isFlat, type Json, nest, Refused } from "./Parameters.ts"
import { isClients, normalise } from "./Paths.ts"

/** The largest body of a request. */
export const bodyBytesMax = 1_048_576
/** The largest multipart body, files included: two pictures of 8 MiB and the fields beside them. */
export const multipartBytesMax = 17 * 1_048_576
const multipartPartsMax = 200

/**
 * Turns what clients send (JSON, urlencoded, multipart, query; Rails' brackets) into the JSON and the plain query that
 * endpoints declare, and paths into their one form. Parameters of the query count for every method, those of the body
 * stand before them. Runs before routing, for the whole router.
 */
export const layer = HttpRouter.middleware(
  (handler) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const [path, search] = split(request.url)
      if (!isClients(path) || isNormal(request, path, search)) return yield* handler
      const result = yield* normalised(request, normalise(path), search).pipe(
        Effect.provideService(HttpServerRequest.MaxBodySize, limitOf(request)),
        Effect.catch((refusal) => Effect.succeed(refusal))
      )
      return isRequest(result)
        ? yield* Effect.provideService(handler, HttpServerRequest.HttpServerRequest, result)
        : result
    }),
  { global: true }
)

/** Nothing to read or to rewrite: most requests of most apps. */
const isNormal = ({ method }: HttpServerRequest.HttpServerRequest, path: string, search: string): boolean =>
  !HttpMethod.hasBody(method) && isFlat(search) && normalise(path) === path

const isRequest = (
  result: HttpServerRequest.HttpServerRequest | HttpServerResponse.HttpServerResponse
): result is HttpServerRequest.HttpServerRequest => HttpServerRequest.TypeId in result

const split = (url: string): readonly [path: string, search: string] => {
  const at = url.indexOf("?")
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)]
}

const isMultipart = (request: HttpServerRequest.HttpServerRequest) => mediaType(request) === "multipart/form-data"

const limitOf = (request: HttpServerRequest.HttpServerRequest) =>
  ByteSize.bytes(isMultipart(request) ? multipartBytesMax : bodyBytesMax)

const mediaType = ({ headers }: HttpServerRequest.HttpServerRequest): string =>
  (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

const tooLarge = plainError(413, "Request body is too large", { connection: "close" })
const malformed = (text = "Error occurred while parsing request parameters") => plainError(400, text)

/** A parser's refusal as the answer to the request. */
const parse = <A>(parser: () => A) =>
  Effect.try({
    try: parser,
    catch: (error) => malformed(error instanceof Refused ? error.text : undefined)
  })

const normalised = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  search: string
) {
  const query = search === "" ? "" : yield* parse(() => flatten(search))
  const url = query === "" ? path : `${path}?${query}`
  const moved = url === request.url ? request : request.modify({ url })
  if (!HttpMethod.hasBody(request.method)) return moved
  const length = Number(request.headers["content-length"] ?? 0)
  if (length > (isMultipart(request) ? multipartBytesMax : bodyBytesMax)) return yield* Effect.fail(tooLarge)
  const body = yield* bodyOf(request)
  const parameters = search === "" ? body : merge(yield* parse(() => nest(new URLSearchParams(search))), body)
  return withJson(moved, parameters)
})

const bodyOf = (request: HttpServerRequest.HttpServerRequest) => {
  const type = mediaType(request)
  if (type === "multipart/form-data") return Effect.flatMap(fieldsOf(request), (fields) => parse(() => nest(fields)))
  const form = type === "application/x-www-form-urlencoded"
  if (!form && type !== "" && type !== "application/json" && !type.endsWith("+json")) return Effect.succeed({})
  return request.text.pipe(
    Effect.mapError(({ reason }) => "reason" in reason && reason.reason === "BodyTooLarge" ? tooLarge : malformed()),
    Effect.flatMap((text) => parse(() => form ? nest(new URLSearchParams(text)) : fromJson(text)))
  )
}

/**
 * The text fields of a multipart body. Files are read past, because no operation takes one yet; what is left of a file is
 * its name, so that an operation can say so.
 */
const fieldsOf = (request: HttpServerRequest.HttpServerRequest) =>
  Stream.runFoldEffect(
    request.multipartStream,
    (): Array<readonly [string, string]> => [],
    (fields, part) =>
      Multipart.isField(part)
        ? Effect.sync(() => [...fields, [part.key, part.value] as const])
        : Effect.as(Stream.runDrain(part.content), [...fields, [`${part.key}[filename]`, part.name] as const])
  ).pipe(
    Effect.provideContext(Multipart.limitsServices({ maxParts: multipartPartsMax, maxFieldSize: bodyBytesMax })),
    Effect.mapError(({ reason }) => reason._tag === "Parse" ? malformed() : tooLarge)
  )

const isObject = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const merge = (query: Json, body: Json): Json => isObject(query) && isObject(body) ? { ...query, ...body } : body

/**
 * The same request with a JSON body, which whoever modifies it further (a proxy's headers) keeps. A token among the
 * parameters counts as one in the header (RFC 6750, 2.2).
 */
const withJson = (
  request: HttpServerRequest.HttpServerRequest,
  parameters: Json
): HttpServerRequest.HttpServerRequest => {
  const token = isObject(parameters) ? parameters["access_token"] ?? parameters["bearer_token"] : undefined
  const typed = Headers.set(request.headers, "content-type", "application/json")
  const headers = typeof token === "string" && typed["authorization"] === undefined
    ? Headers.set(typed, "authorization", `Bearer ${token}`)
    : typed
  return Object.create(request, {
    headers: { value: headers },
    text: { value: Effect.succeed(JSON.stringify(parameters)) },
    json: { value: Effect.succeed(parameters) },
    modify: {
      value: (options: Parameters<typeof request.modify>[0]) =>
        withJson(request.modify({ headers, ...options }), parameters)
    }
  })
}
