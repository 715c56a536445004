import { ByteSize, Effect, Layer, Stream } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, type HttpServerResponse, Multipart } from "effect/http"
import { Uploads } from "../../services/media/Uploads.ts"
import { takesFiles, withFiles } from "./Files.ts"
import { flatten, fromJson, isFlat, nest } from "./Parameters.ts"
import { isClients, normalise } from "./Paths.ts"
import { hasQueryBody, withQueryBody } from "./QueryBody.ts"
import { isMultipart, malformed, mediaType, merge, parse, tooLarge, withJson } from "./Replaced.ts"

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
const make = (uploads: Uploads["Service"] | undefined) =>
  HttpRouter.middleware(
    (handler) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const [path, search] = split(request.url)
        if (!isClients(path) || isNormal(request, path, search)) return yield* handler
        if (uploads !== undefined && takesFiles(request.method, normalise(path))) {
          return yield* withFiles(uploads, request, normalise(path), search, handler)
        }
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

/** Without files: those that come are read past. */
export const layer = make(undefined)

/** With files, where a route takes them. */
export const layerWithFiles = Layer.unwrap(Effect.map(Uploads, make))

/** Nothing to read or to rewrite: most requests of most apps. */
const isNormal = (request: HttpServerRequest.HttpServerRequest, path: string, search: string): boolean =>
  !HttpMethod.hasBody(request.method) && isFlat(search) && normalise(path) === path && !hasQueryBody(request)

const isRequest = (
  result: HttpServerRequest.HttpServerRequest | HttpServerResponse.HttpServerResponse
): result is HttpServerRequest.HttpServerRequest => HttpServerRequest.TypeId in result

const split = (url: string): readonly [path: string, search: string] => {
  const at = url.indexOf("?")
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)]
}

const limitOf = (request: HttpServerRequest.HttpServerRequest) =>
  ByteSize.bytes(isMultipart(request) ? multipartBytesMax : bodyBytesMax)

const normalised = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  written: string
) {
  const search = !HttpMethod.hasBody(request.method) && hasQueryBody(request)
    ? yield* withQueryBody(request, written)
    : written
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
 * The text fields of a multipart body. Files are read past, because these operations take none; what is left of a file is
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
