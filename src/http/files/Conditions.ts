import type { Headers } from "effect/http"
import type { Range } from "../../services/media/Storage.ts"

const single = /^bytes=(\d*)-(\d*)$/

/**
 * Returns the part of a file that a `Range` header requests (RFC 9110, 14.2): undefined for the whole file, also for
 * several ranges or another unit; "unsatisfiable" for one beyond the end.
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

/**
 * Returns the range that applies: `If-Range` must name this very file (RFC 9110, 13.1.5). A date there is never ours,
 * so it gets the whole file.
 */
export const rangeWanted = (headers: Headers.Headers, tag: string): string | undefined => {
  const condition = headers["if-range"]
  return condition === undefined || condition.trim() === tag ? headers["range"] : undefined
}
