import { ByteSize, Effect, Layer, Result, Stream } from "effect"
import { HttpMethod, HttpRouter, HttpServerRequest, Multipart } from "effect/http"
import { Uploads } from "../../services/media/Uploads.ts"
import { noteParameters } from "../languages/RequestWishes.ts"
import {
  declaredBytes,
  form,
  isMultipart,
  json,
  mediaType,
  merge,
  parse,
  refusalOf,
  tooLarge,
  withParameters
} from "./BodyParsing.ts"
import { BodyReading } from "./BodyReading.ts"
import { flatten, isFlat, nest, pairs } from "./Parameters.ts"
import { hasQueryBody, withQueryBody } from "./QueryBody.ts"
import { isClientPath, isForPeople, normalise } from "./RequestPaths.ts"
import { takesFiles, withFiles } from "./UploadedFiles.ts"

/** Maximum bytes of a request's body. */
export const bodyBytesMax = 1_048_576
/** Maximum bytes of a form of our pages, and of a client's request to `/oauth`: these come from strangers. */
const formBytesMax = 65_536
/** Maximum bytes of a multipart body, files included: two pictures of 8 MiB and the fields. */
const multipartBytesMax = 17 * 1_048_576
const multipartPartsMax = 200

/**
 * Turns what clients send (JSON, urlencoded, multipart, query; Rails' brackets) into the JSON and the plain query that
 * endpoints declare, and normalises paths. Parameters of the query count for every method; those of the body override
 * them. Runs before routing, for the whole router. A body is read only when a handler asks for it. So no body is read
 * without a route, or from a sender who may not call it or is over a limit.
 */
const make = (uploads: Uploads["Service"] | undefined) =>
  HttpRouter.middleware(
    Effect.map(BodyReading, (bodyReading) => (handler) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const [path, search] = split(request.url)
        if (!isClientPath(path) || isNormal(request, path, search)) return yield* handler
        const place = normalise(path)
        const query = yield* Effect.result(queryOf(bodyReading, request, search))
        if (Result.isFailure(query)) return query.failure
        const url = query.success === "" ? place : `${place}?${query.success}`
        const moved = url === request.url ? request : request.modify({ url })
        if (!HttpMethod.hasBody(request.method)) return yield* within(handler, moved)
        if (uploads !== undefined && takesFiles(request.method, place)) {
          return yield* withFiles(uploads, bodyReading, moved, place, search, handler)
        }
        const parameters = yield* Effect.cached(
          Effect.tap(
            read(bodyReading, request, place, search),
            (found) => Effect.sync(() => noteParameters(request, found))
          )
        )
        return yield* within(handler, withParameters(moved, parameters))
      })),
    { global: true }
  ).pipe(Layer.provide(BodyReading.layer))

const within = <A, E, R>(handler: Effect.Effect<A, E, R>, request: HttpServerRequest.HttpServerRequest) =>
  Effect.provideService(handler, HttpServerRequest.HttpServerRequest, request)

/** Body parsing that skips files. */
export const layer = make(undefined)

/** Body parsing that stores files on routes that take them. */
export const layerWithFiles = Layer.unwrap(Effect.map(Uploads, make))

/** Returns true if there is nothing to read or rewrite, as for most requests of most apps. */
const isNormal = (request: HttpServerRequest.HttpServerRequest, path: string, search: string): boolean =>
  !HttpMethod.hasBody(request.method) && isFlat(search) && normalise(path) === path && !hasQueryBody(request)

const split = (url: string): readonly [path: string, search: string] => {
  const at = url.indexOf("?")
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)]
}

/** Returns the query in the form that endpoints declare, with the parameters that a GET sends in its body. */
const queryOf = Effect.fnUntraced(function*(
  bodyReading: BodyReading["Service"],
  request: HttpServerRequest.HttpServerRequest,
  written: string
) {
  const search = !HttpMethod.hasBody(request.method) && hasQueryBody(request)
    ? yield* bodyReading.read(declaredBytes(request), withQueryBody(request, written))
    : written
  return search === "" ? "" : yield* parse(() => flatten(search))
})

const read = Effect.fnUntraced(function*(
  bodyReading: BodyReading["Service"],
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  search: string
) {
  const bytes = declaredBytes(request)
  const bytesMax = isForPeople(path) ? formBytesMax : isMultipart(request) ? multipartBytesMax : bodyBytesMax
  if (bytes !== undefined && bytes > bytesMax) return yield* Effect.fail(tooLarge)
  const body = bytes === 0 ? {} : yield* bodyReading.read(
    bytes,
    Effect.provideService(bodyOf(request), HttpServerRequest.MaxBodySize, ByteSize.bytes(bytesMax))
  )
  return search === "" ? body : merge(yield* parse(() => nest(pairs(search))), body)
})

const bodyOf = (request: HttpServerRequest.HttpServerRequest) => {
  const type = mediaType(request)
  if (type === "multipart/form-data") return Effect.flatMap(fieldsOf(request), (fields) => parse(() => nest(fields)))
  if (type === "application/x-www-form-urlencoded") return form(request)
  if (type !== "" && type !== "application/json" && !type.endsWith("+json")) return Effect.succeed({})
  return json(request)
}

/**
 * Returns the text fields of a multipart body. Files are skipped, because these operations take none; only a file's
 * name is kept, so that an operation can report it.
 */
const fieldsOf = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
  const fields: Array<readonly [string, string]> = []
  let characters = 0
  const take = (name: string, value: string) => {
    fields.push([name, value])
    characters += value.length
    return characters > bodyBytesMax ? Effect.fail(tooLarge) : Effect.void
  }
  yield* Stream.runForEach(
    Stream.mapError(request.multipartStream, refusalOf),
    (part) =>
      Multipart.isField(part)
        ? take(part.key, part.value)
        : Effect.andThen(
          Effect.mapError(Stream.runDrain(part.content), refusalOf),
          take(`${part.key}[filename]`, part.name)
        )
  ).pipe(Effect.provideContext(Multipart.limitsServices({ maxParts: multipartPartsMax, maxFieldSize: bodyBytesMax })))
  return fields
})
