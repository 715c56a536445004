import type { Stream } from "effect"
import { type Headers, HttpServerResponse } from "effect/http"
import type { Range } from "../../services/media/Storage.ts"
import { isKnown } from "../guard/EntityTags.ts"
import * as Reply from "../guard/Reply.ts"
import { rangeOf, rangeWanted } from "./Conditions.ts"

/** A file that never changes at its URL. */
interface FixedFile<E> {
  /** Type from our own table; a client's claim is never repeated (safety row 46). */
  readonly contentType: string
  /** Size in bytes. */
  readonly size: number
  /** Strong entity tag, without its quotes. */
  readonly tag: string
  readonly read: (range: Range) => Stream.Stream<Uint8Array, E>
  /** Headers of a file that is not public; those of public files otherwise. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Headers that make browsers show a file as the stated type, whatever it contains, and run nothing in it. A year is the
 * longest time that caches need to respect (RFC 9111, 5.2.2).
 */
const fixed = {
  "cache-control": "public, max-age=31536000, immutable",
  "content-security-policy": "default-src 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "accept-ranges": "bytes"
}

export const notFound = Reply.plainError(404, "Not Found", { "cache-control": "no-store" })

/** Responds with a file, a range of its bytes, or 304. */
export const respond = <E>(
  headers: Headers.Headers,
  { contentType, headers: given = fixed, read, size, tag }: FixedFile<E>
) => {
  const etag = `"${tag}"`
  const always = { ...given, "accept-ranges": "bytes", etag }
  if (isKnown(headers, etag)) return HttpServerResponse.empty({ status: 304, headers: always })
  const range = rangeOf(rangeWanted(headers, etag), size)
  if (range === "unsatisfiable") {
    return HttpServerResponse.empty({ status: 416, headers: { ...always, "content-range": `bytes */${size}` } })
  }
  const { length, offset } = range ?? { offset: 0, length: size }
  return HttpServerResponse.stream(read({ offset, length }), {
    status: range === undefined ? 200 : 206,
    contentType,
    contentLength: length,
    headers: range === undefined
      ? always
      : { ...always, "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }
  })
}
