import { Context, Effect, Schema } from "effect"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { RequestedUrls } from "../outbound/HttpRedirects.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { SigningKeys } from "./SigningKeys.ts"

/**
 * URL to fetch: an object; an object or the HTML page that links to it (`objectOrPage`); or the beginning of an HTML
 * page (`page`, an unsigned request).
 */
export const WantedDocument = Schema.Struct({
  url: Schema.String,
  as: Schema.Literals(["object", "objectOrPage", "page"])
})
export type WantedDocument = typeof WantedDocument.Type

/** Fetched text, and the URLs that were requested in order; the last one is `url`. */
export const HostDocument = Schema.Struct({
  url: Schema.String,
  text: Schema.String,
  contentType: Schema.String,
  link: Schema.String,
  visited: Schema.Array(Schema.String)
})
export type HostDocument = typeof HostDocument.Type

type Ask = (wanted: WantedDocument) => Effect.Effect<HostDocument, OutboundError>

/**
 * Fetches a document through its host's actor, so that concurrent callers on all nodes share one request. Undefined
 * without actors, as in the command line: each process then fetches for itself.
 */
export const HostDocuments = Context.Reference<Ask | undefined>("murmuration/services/federation/HostDocuments", {
  defaultValue: () => undefined
})

const types = {
  object: DocumentTypes.activity,
  objectOrPage: DocumentTypes.activityOrPage,
  page: DocumentTypes.html
}

/** Creates a fetcher that signs as the server. `places` are URLs that the same look-up requested before. */
export const documentFetcher = Effect.gen(function*() {
  const keys = yield* SigningKeys
  const outbound = yield* Outbound
  const signatures = yield* Signatures

  const sign = Effect.fnUntraced(function*(url: URL) {
    const [key] = yield* keys.ofInstance
    return yield* signatures.sign("draft-cavage", key, { method: "GET", url, headers: {}, body: undefined })
  })

  return Effect.fnUntraced(function*({ as, url }: WantedDocument, places: RequestedUrls = new Set()) {
    const before = places.size
    const found = yield* as === "page"
      ? outbound.text({ url, type: types[as], places, beginning: true })
      : outbound.text({ url, type: types[as], places, sign })
    const { contentType, link, url: servedBy, value } = found
    return { url: servedBy, text: value, contentType, link, visited: [...places].slice(before) } satisfies HostDocument
  })
})
