import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { filesPath } from "../../services/instance/Urls.ts"
import { servedTypes } from "../../services/media/FileTypes.ts"
import { isStoredName, type Range, Storage } from "../../services/media/Storage.ts"
import { traced } from "../../services/Traced.ts"
import * as Reply from "../guard/Reply.ts"

/** Files never change under their name; a year is the longest that caches heed (RFC 9111, 5.2.2). */
const fixed = {
  "cache-control": "public, max-age=31536000, immutable",
  "content-security-policy": "default-src 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "accept-ranges": "bytes"
}

const notFound = Reply.plainError(404, "Not Found", { "cache-control": "no-store" })

const single = /^bytes=(\d*)-(\d*)$/

/**
 * The part of a file that a `Range` header asks for (RFC 9110, 14.2): undefined for the whole file, as for several
 * ranges or another unit, and "unsatisfiable" for one that begins behind its end.
 */
export const rangeOf = (header: string | undefined, size: number): Range | undefined | "unsatisfiable" => {
  const [, first = "", last = ""] = single.exec(header ?? "") ?? []
  if (first === "" && last === "") return undefined
  if (first === "") {
    const length = Math.min(Number(last), size)
    return length === 0 ? "unsatisfiable" : { offset: size - length, length }
  }
  const [offset, end] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)]
  if (last !== "" && Number(last) < offset) return undefined
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset + 1 }
}

/** Pictures, videos and sounds that people uploaded, by the names that this server gave them (safety rows 44, 46, 51). */
export const layer = Layer.unwrap(Effect.map(Storage, (storage) => {
  const serve = traced("StoredFiles.serve")(
    function*(request: HttpServerRequest.HttpServerRequest) {
      const name = (request.url.split("?", 1)[0] ?? "").slice(filesPath.length + 1)
      const contentType = servedTypes[name.slice(name.lastIndexOf(".") + 1)]
      if (contentType === undefined || !isStoredName(name)) return notFound
      const size = yield* storage.size(name)
      if (size === undefined) return notFound
      const range = rangeOf(request.headers["range"], size)
      if (range === "unsatisfiable") {
        return HttpServerResponse.empty({ status: 416, headers: { ...fixed, "content-range": `bytes */${size}` } })
      }
      const { length, offset } = range ?? { offset: 0, length: size }
      return HttpServerResponse.stream(storage.read(name, { offset, length }), {
        status: range === undefined ? 200 : 206,
        contentType,
        contentLength: length,
        headers: range === undefined
          ? fixed
          : { ...fixed, "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }
      })
    },
    Effect.catchTag(
      "StorageFailed",
      (error) => Effect.andThen(Effect.logWarning("a file cannot be read", error), Reply.unavailable)
    )
  )

  return HttpRouter.add("GET", `${filesPath}/*`, Effect.flatMap(HttpServerRequest.HttpServerRequest, serve))
}))
