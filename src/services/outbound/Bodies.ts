import { Effect, Result } from "effect"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"
import { Refused, Unreachable } from "./OutboundError.ts"
import type { TransportResponse } from "./Transport.ts"

/** Timeout of one read of a body, in seconds. */
export const readSecondsMax = 10

/** Accepted content encodings; only a single one. */
export const acceptEncoding = "gzip, deflate, br"

const decoders = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync]
])

/** Returns the content encoding of a body; undefined if it is not encoded. */
export const encodingOf = ({ headers }: TransportResponse): string | undefined => {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase()
  return encoding === "" || encoding === "identity" ? undefined : encoding
}

/** Reads the next bytes, within `readSecondsMax`. */
export const next = (url: string, { read }: TransportResponse) =>
  Effect.timeoutOrElse(read, {
    duration: `${readSecondsMax} seconds`,
    orElse: () => new Unreachable({ url, reason: "timeout" })
  })

const decoded = (url: string, bytes: Uint8Array, encoding: string, bytesMax: number) => {
  const decode = decoders.get(encoding)
  if (decode === undefined) return Result.fail(new Refused({ url, rule: "encoding" }))
  return Result.try({
    try: (): Uint8Array => decode(bytes, { maxOutputLength: bytesMax }),
    catch: (error) =>
      new Refused({
        url,
        rule: error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE" ? "size" : "body"
      })
  })
}

/**
 * Reads and decodes a whole body; holds at most `bytesMax`, encoded or decoded. Fails with `Refused` if it is larger or
 * cannot be decoded.
 */
export const readAll = Effect.fnUntraced(function*(url: string, response: TransportResponse, bytesMax: number) {
  if (Number(response.headers["content-length"] ?? 0) > bytesMax) return yield* new Refused({ url, rule: "size" })
  const encoding = encodingOf(response)
  if (encoding !== undefined && !decoders.has(encoding)) return yield* new Refused({ url, rule: "encoding" })
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  for (let chunk = yield* next(url, response); chunk !== undefined; chunk = yield* next(url, response)) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return yield* new Refused({ url, rule: "size" })
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks, bytes)
  return encoding === undefined ? body : yield* Effect.fromResult(decoded(url, body, encoding, bytesMax))
})

/** Reads the first `bytesMax` bytes of an unencoded body; does not wait for the rest. */
export const readBeginning = Effect.fnUntraced(function*(url: string, response: TransportResponse, bytesMax: number) {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  while (bytes < bytesMax) {
    const chunk = yield* next(url, response)
    if (chunk === undefined) break
    chunks.push(chunk)
    bytes += chunk.byteLength
  }
  return Buffer.concat(chunks, bytes).subarray(0, bytesMax)
})
