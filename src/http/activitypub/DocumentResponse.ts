import { Clock, Effect, Option } from "effect"
import { Etag, HttpServerRequest, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import type { Document } from "../../services/federation/documents/Vocabulary.ts"
import type { ClientError } from "../../services/runtime/Errors.ts"
import { preferredOffer } from "../guard/Accept.ts"
import * as Reply from "../guard/Reply.ts"
import type { CacheScope, NotSigned } from "./Requesters.ts"

/** Time for which others may cache a public document, in seconds. */
const documentSecondsMax = 180

/** The document or the page, by `Accept`; caches must know that there are two. */
export const byType = <E1, R1, E2, R2>(
  document: Effect.Effect<HttpServerResponse.HttpServerResponse, E1, R1>,
  page: Effect.Effect<HttpServerResponse.HttpServerResponse, E2, R2>
) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request): Effect.Effect<HttpServerResponse.HttpServerResponse, E1 | E2, R1 | R2> =>
      preferredOffer(request.headers["accept"], "page", "activity") === "activity"
        ? document
        : Effect.map(page, alsoByType)
  )

const alsoByType = (response: HttpServerResponse.HttpServerResponse) =>
  HttpServerResponse.setHeader(
    response,
    "vary",
    [...new Set(["Accept", ...(response.headers["vary"] ?? "").split(/, ?/)])].filter((name) => name !== "").join(", ")
  )

/** Public documents vary by the token, too: for their owner's, some have more (`Portability.ts`). */
const cacheHeaders = (scope: CacheScope): Record<string, string> =>
  scope === "everybody"
    ? { "cache-control": `public, max-age=${documentSecondsMax}`, vary: "Accept, Authorization" }
    : { "cache-control": "private, no-store", vary: scope === "signer" ? "Accept, Signature" : "Accept, Authorization" }

/** A serialised document and its entity tag, cached for frequent requests. */
export interface SerialisedDocument {
  readonly text: string
  readonly etag: string
}

export const serialiseDocument = (value: Document): SerialisedDocument => {
  const text = JSON.stringify(value)
  return { text, etag: Etag.toString({ _tag: "Weak", value: hash("sha1", text, "base64url") }) }
}

/** Returns the approximate size of a document in memory, in bytes. */
export const bytesOf = ({ etag, text }: SerialisedDocument): number => (text.length + etag.length) * 2 + 64

export const respondWith = ({ etag, text }: SerialisedDocument, scope: CacheScope) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const common = { ...cacheHeaders(scope), etag, "x-content-type-options": "nosniff" }
    return scope === "everybody" && (headers["if-none-match"] ?? "").split(/,\s*/).includes(etag)
      ? HttpServerResponse.empty({ status: 304, headers: common })
      : HttpServerResponse.text(text, { contentType: "application/activity+json; charset=utf-8", headers: common })
  })

export const document = (value: Document, scope: CacheScope) => respondWith(serialiseDocument(value), scope)

/**
 * Responds 404 for an unknown or hidden object, and 410 for a deleted one, which caches may keep as long as a document.
 * A request beyond a limit learns when it may be repeated, in seconds.
 */
export const refused = (error: ClientError | NotSigned) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const response = error._tag === "NotSigned"
      ? Reply.plainError(error.malformed ? 400 : 401, error.text)
      : Reply.error(error)
    if (error._tag === "Gone") return HttpServerResponse.setHeaders(response, cacheHeaders("everybody"))
    const seconds = error._tag === "TooManyRequests" ? Math.ceil((error.resetAt - now) / 1_000) : undefined
    return HttpServerResponse.setHeaders(response, {
      ...cacheHeaders("signer"),
      ...(seconds === undefined ? {} : { "retry-after": String(Math.max(1, seconds)) })
    })
  })

/** Returns the query parameters of a request. */
export const queryOf = ({ url }: Pick<HttpServerRequest.HttpServerRequest, "url">): URLSearchParams =>
  new URLSearchParams(url.split("?").slice(1).join("?"))

export const idIn = (query: URLSearchParams, name: string): bigint | undefined =>
  Option.getOrUndefined(Option.map(
    Option.filter(Option.fromNullishOr(query.get(name)), (text) => /^[0-9]{1,18}$/.test(text)),
    BigInt
  ))
