import { ByteSize, Effect, Stream } from "effect"
import { HttpMethod, HttpServerRequest, type HttpServerResponse, Multipart } from "effect/http"
import {
  emojiBytesMax,
  imageBytesMax,
  mediaAttachmentsMax,
  profilePictureBytesMax,
  videoBytesMax
} from "../../services/instance/ContentLimits.ts"
import { emojiArchiveBytesMax } from "../../services/media/EmojiArchives.ts"
import type { FileTooLarge } from "../../services/media/StoredFiles.ts"
import type { Uploads } from "../../services/media/Uploads.ts"
import { Unprocessable } from "../../services/runtime/Errors.ts"
import { markDisposable } from "../../services/runtime/OneTimeChunks.ts"
import { archiveBytesMax } from "../../services/transfers/archives/ArchiveBounds.ts"
import { fileBytesMax } from "../../services/transfers/ListFileText.ts"
import * as Reply from "../guard/Reply.ts"
import {
  declaredBytes,
  form,
  isMultipart,
  isObject,
  json,
  malformed,
  mediaType,
  merge,
  parse,
  refusalOf,
  tooLarge,
  withParameters
} from "./BodyParsing.ts"
import type { BodyReading } from "./BodyReading.ts"
import { type Json, nest, pairs } from "./Parameters.ts"

/** Maximum bytes of everything but files in a request. */
const fieldBytesMax = 1_048_576
/**
 * Maximum bytes of a JSON body, and of all text fields of a multipart one, if files may come as `data:` URLs: pictures
 * of 6 MB. Such a body is held and parsed as a whole; a larger file must be sent as a file.
 */
const dataUrlBytesMax = 8 * 1_048_576
const multipartPartsMax = 200
/** Characters of a `data:` URL that are decoded at once; a multiple of four. */
const sliceCharacters = 65_536

/** Parameters that may be files. */
const fileParameters = new Set(["file", "thumbnail", "avatar", "header", "image"])

const attachments = /^\/api\/v[12]\/media(?:\/[^/]+)?$/
/** The composer's form, and its script's uploads. */
const composer = /^\/web\/compose(?:\/files)?$/
const profiles = /^\/(?:api\/v1\/(?:accounts\/update_credentials|profile)|web\/settings\/profile)$/
const archives = /^\/admin\/custom_emojis\/archive$/
const emojis = /^\/(?:api\/v1\/admin\/custom_emojis|admin\/custom_emojis\/new)$/

/** Files of lists that members import. */
const imports = /^\/web\/settings\/imports$/
/** Archives of accounts that members import. */
const accountArchives = /^\/web\/settings\/archives$/
const instancePictures = /^\/(?:api\/v1\/admin\/site_uploads\/[^/]+|admin\/settings\/appearance)$/

const statuses = /^\/api\/v1\/statuses\/\d+$/
/** Thumbnail for a file of a status that is edited. */
const nestedThumbnail = /^media_attributes\[\d{0,4}\]\[thumbnail\]$/

/** Returns true if an operation takes files; the path must be normalised. */
export const takesFiles = (method: string, path: string): boolean =>
  HttpMethod.isHttpMethod(method) && HttpMethod.hasBody(method) &&
  (attachments.test(path) || composer.test(path) || profiles.test(path) || emojis.test(path) || archives.test(path) ||
    instancePictures.test(path) || imports.test(path) || accountArchives.test(path) ||
    ((method === "PUT" || method === "PATCH") && statuses.test(path)))

/** Returns the maximum bytes of a file, and of a whole multipart body. */
const limitsOf = (path: string) =>
  attachments.test(path) || composer.test(path)
    ? { file: videoBytesMax, body: videoBytesMax + imageBytesMax + fieldBytesMax }
    : accountArchives.test(path)
    ? { file: archiveBytesMax, body: archiveBytesMax + fieldBytesMax }
    : imports.test(path)
    ? { file: fileBytesMax, body: fileBytesMax + fieldBytesMax }
    : archives.test(path)
    ? { file: emojiArchiveBytesMax, body: emojiArchiveBytesMax + fieldBytesMax }
    : emojis.test(path)
    ? { file: emojiBytesMax, body: 2 * emojiBytesMax + fieldBytesMax }
    : { file: profilePictureBytesMax, body: 2 * profilePictureBytesMax + fieldBytesMax }

const tooLargeFile = ({ bytesMax }: FileTooLarge) =>
  Reply.error(
    new Unprocessable({
      text: `Validation failed: File file size must be less than ${Math.floor(bytesMax / 1_048_576)} MB`
    })
  )

/**
 * Runs a handler on a request that may have files. Nothing is read before the handler asks for it, so that a refused
 * caller stores nothing. Files are then streamed to storage, and replaced by tickets.
 */
export const withFiles = Effect.fnUntraced(function*<A, E, R>(
  uploads: Uploads["Service"],
  bodyReading: BodyReading["Service"],
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  search: string,
  handler: Effect.Effect<A, E, R>
) {
  const tickets: Array<string> = []
  const parameters = yield* Effect.cached(bodyReading.readFiles(read(uploads, request, path, search, tickets)))
  return yield* Effect.provideService(
    handler,
    HttpServerRequest.HttpServerRequest,
    withParameters(request, parameters)
  ).pipe(Effect.ensuring(Effect.suspend(() => uploads.close(tickets))))
})

const read = Effect.fnUntraced(function*(
  uploads: Uploads["Service"],
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  search: string,
  tickets: Array<string>
) {
  const limits = limitsOf(path)
  const multipart = isMultipart(request)
  const bytes = declaredBytes(request)
  const isForm = mediaType(request) === "application/x-www-form-urlencoded"
  const bodyMax = multipart ? limits.body : isForm ? fieldBytesMax : dataUrlBytesMax
  if (bytes !== undefined && bytes > bodyMax) return yield* Effect.fail(tooLarge)

  const take = Effect.fnUntraced(function*(bytes: Stream.Stream<Uint8Array, Multipart.MultipartError>) {
    const ticket = yield* uploads.receive(Stream.map(bytes, markDisposable), limits.file, tickets).pipe(
      Effect.catchTags({
        FileTooLarge: (error) => Effect.fail(tooLargeFile(error)),
        MultipartError: (error) => Effect.fail(refusalOf(error)),
        SqlError: Effect.die,
        StorageFailed: (error) =>
          Effect.andThen(
            Effect.logError("an uploaded file could not be stored", error),
            Effect.flatMap(Reply.unavailable, (response) => Effect.fail(response))
          )
      })
    )
    tickets.push(ticket)
    return { ticket }
  })

  const fields = Effect.fnUntraced(function*() {
    const texts: Array<readonly [string, string]> = []
    let characters = 0
    const files: Record<string, Json> = {}
    yield* request.multipartStream.pipe(
      Stream.mapError(refusalOf),
      Stream.runForEach((part): Effect.Effect<unknown, HttpServerResponse.HttpServerResponse> => {
        if (Multipart.isField(part)) {
          texts.push([part.key, part.value])
          characters += part.value.length
          return characters > dataUrlBytesMax ? Effect.fail(tooLarge) : Effect.void
        }
        if (fileParameters.has(part.key) && !(part.key in files)) {
          return Effect.map(take(part.content), (file) => files[part.key] = { ...file, filename: part.name })
        }
        if (nestedThumbnail.test(part.key) && tickets.length < mediaAttachmentsMax) {
          return Effect.map(take(part.content), ({ ticket }) => texts.push([`${part.key}[ticket]`, ticket]))
        }
        return Effect.mapError(Stream.runDrain(part.content), refusalOf)
      })
    )
    return merge(yield* parse(() => nest(texts)), files)
  })

  const body = bytes === 0 ? {} : yield* (multipart ? fields() : isForm ? form(request) : json(request)).pipe(
    Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(bodyMax)),
    Effect.provideContext(Multipart.limitsServices({ maxParts: multipartPartsMax, maxFieldSize: dataUrlBytesMax }))
  )
  const given = search === "" ? body : merge(yield* parse(() => nest(pairs(search))), body)
  if (!isObject(given)) return given
  const decoded: Record<string, Json> = { ...given }
  for (const name of fileParameters) {
    const value = given[name]
    if (typeof value === "string" && value !== "") decoded[name] = yield* take(yield* bytesOf(value))
  }
  const attributes = statuses.test(path) ? given["media_attributes"] : undefined
  if (typeof attributes !== "object" || attributes === null) return decoded
  const withPicture = (value: Json) => {
    const picture = isObject(value) ? value["thumbnail"] : undefined
    return isObject(value) && typeof picture === "string" && picture !== "" && tickets.length < mediaAttachmentsMax
      ? Effect.map(Effect.flatMap(bytesOf(picture), take), (thumbnail) => ({ ...value, thumbnail }))
      : Effect.succeed(value)
  }
  const list = yield* Effect.forEach(Object.values(attributes), withPicture)
  return { ...decoded, ["media_attributes"]: list }
})

const dataUrl = /^data:[\w.+-]*(?:\/[\w.+-]*)?(?:;[\w=.+-]+)*;base64,/

/** Decodes a `data:` URL in base64 (RFC 2397), in slices. */
const bytesOf = (url: string) =>
  Effect.suspend(() => {
    const head = dataUrl.exec(url.slice(0, 256))
    if (head === null) return Effect.fail(malformed("File must be a file or a data URI"))
    const slices = function*() {
      for (let at = head[0].length; at < url.length; at += sliceCharacters) {
        yield new Uint8Array(Buffer.from(url.slice(at, at + sliceCharacters), "base64"))
      }
    }
    return Effect.succeed(Stream.fromIterable({ [Symbol.iterator]: slices }))
  })
