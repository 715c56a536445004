import { Effect } from "effect"
import { type HttpBody, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { freeChunk, markDisposable } from "../services/runtime/OneTimeChunks.ts"

/*
 * Measured on pages of posts (one core, brotli quality 1): 25 µs for 3 KB, 60 µs for 33 KB, 90 µs for 65 KB, with a
 * tenth of the bytes left; gzip level 1 takes up to twice that. Higher qualities take three to five times as long for a
 * tenth less. So compression runs synchronously here, in the time of a small query.
 */

/**
 * Size limits of compressed responses, in bytes. A smaller body gains less than its headers grow; a larger one would
 * block for too long.
 */
export const compressedBytesMin = 2_048
const compressedBytesMax = 2_097_152

/**
 * Text types that are compressed. Images, audio and video are compressed already; streams are sent as they are
 * produced.
 */
const types = /^(?:text\/(?:html|css|javascript)|application\/(?:[\w.-]+\+)?(?:json|xml))\b/

/**
 * Pages that contain secrets of their visitor set this themselves (`http/html/HtmlPage.ts`): the compressed length
 * would leak them (BREACH). The API's responses need tokens that no other site's script can send.
 */
const fixed = /\bno-transform\b/i

type Coding = "br" | "gzip"

/** Returns the best coding that a client accepts (RFC 9110, 12.5.3). */
const codingOf = (accepted: string): Coding | undefined => {
  const taken = new Set(
    accepted.toLowerCase().split(",").flatMap((part) => {
      const [coding = "", ...weights] = part.split(";").map((one) => one.trim())
      return weights.some((weight) => /^q=0(?:\.0*)?$/.test(weight)) ? [] : [coding]
    })
  )
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : undefined
}

const compress = (bytes: Uint8Array, coding: Coding): Uint8Array =>
  coding === "gzip" ? gzipSync(bytes, { level: 1 }) : brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  })

/**
 * Size from which the compressed form of a shared body is kept, in bytes. Such bodies describe the server itself and
 * are sent repeatedly.
 */
const keptBytesMin = 262_144
const cache = new WeakMap<HttpBody.HttpBody, Map<Coding, Uint8Array>>()

/** Compresses a body for one response, and frees the memory of its uncompressed bytes. */
const compressedNow = (body: HttpBody.Uint8Array, coding: Coding): Uint8Array => {
  const bytes = body.text === undefined ? body.body : markDisposable(Buffer.from(body.text))
  const compressed = compress(bytes, coding)
  freeChunk(bytes)
  return compressed
}

const compressedOnce = (body: HttpBody.Uint8Array, coding: Coding): Uint8Array => {
  if (body.contentLength < keptBytesMin) return compressedNow(body, coding)
  const known = cache.get(body) ?? new Map<Coding, Uint8Array>()
  const bytes = known.get(coding) ?? compressedNow(body, coding)
  cache.set(body, known.set(coding, bytes))
  return bytes
}

const varying = (vary: string | undefined): string =>
  vary === undefined ? "Accept-Encoding" : /\baccept-encoding\b/i.test(vary) ? vary : `${vary}, Accept-Encoding`

const compressed = (accepted: string | undefined, response: HttpServerResponse.HttpServerResponse) => {
  const { body, cookies, headers, status } = response
  if (fixed.test(headers["cache-control"] ?? "")) return response
  if (body._tag !== "Uint8Array" || !types.test(body.contentType) || headers["content-encoding"] !== undefined) {
    return response
  }
  // The body's bytes are only created when needed: a text is sent without them.
  const length = body.contentLength
  if (length < compressedBytesMin || length > compressedBytesMax || status === 206) return response
  const vary = varying(headers["vary"])
  const coding = accepted === undefined ? undefined : codingOf(accepted)
  if (coding === undefined) {
    return vary === headers["vary"] ? response : HttpServerResponse.setHeader(response, "vary", vary)
  }
  const bytes = compressedOnce(body, coding)
  return HttpServerResponse.setHeaders(
    HttpServerResponse.uint8Array(bytes, { status, contentType: body.contentType, cookies }),
    { ...headers, "content-encoding": coding, "content-length": String(bytes.length), vary }
  )
}

/** Compresses responses for clients that accept it. */
export const layer = HttpRouter.middleware(
  (handler) =>
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ headers }) => Effect.map(handler, (response) => compressed(headers["accept-encoding"], response))
    ),
  { global: true }
)
