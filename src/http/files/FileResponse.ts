import type { Stream } from "effect"
import { type Headers, HttpServerResponse } from "effect/http"
import type { Range } from "../../services/media/Storage.ts"
import { isKnown } from "../guard/EntityTags.ts"
import * as Reply from "../guard/Reply.ts"
import { rangeOf, rangeWanted } from "./Conditions.ts"

/** A file that never changes under its address. */
interface FixedFile<E> {
  /** From our table of types; nobody else's word is repeated (safety row 46). */
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  /** Tells it from every other file: a strong entity tag without its quotes. */
  readonly tag: string
  readonly read: (range: Range) => Stream.Stream<Uint8Array, E>
}

/**
 * Browsers show a file as the type that we say, whatever it holds, and run nothing of it. A year is the longest that
 * caches heed (RFC 9111, 5.2.2).
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

/** Answers with a file, a part of it, or that the client has it already. */
export const answer = <E>(headers: Headers.Headers, { contentType, read, size, tag }: FixedFile<E>) => {
  const etag = `"${tag}"`
  const always = { ...fixed, etag }
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
