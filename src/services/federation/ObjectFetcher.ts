import { Context, Effect, Layer, Result, Schema } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Allowances from "../outbound/Allowances.ts"
import * as BoundedJson from "../outbound/BoundedJson.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { RequestedUrls } from "../outbound/HttpRedirects.ts"
import { type OutboundError, Refused } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"
import { alternateIn } from "./documents/Alternates.ts"
import { asForeign, asList, type Foreign, urlReader } from "./documents/ForeignValues.ts"
import { activityStreams } from "./documents/Vocabulary.ts"
import { documentFetcher, HostDocuments } from "./HostDocuments.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { SigningKeys } from "./SigningKeys.ts"

/** A fetched document that cannot be trusted. */
export class Implausible extends Schema.TaggedError<Implausible>()("Implausible", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.url}: ${this.reason}`
  }
}

/** Returns true for temporary failures: a retry may succeed. */
export const isTemporary = (error: OutboundError | Implausible): boolean =>
  error._tag === "Unreachable" || (error._tag === "ErrorResponse" && (error.status >= 500 || error.status === 429))

export interface FetchedDocument {
  /** Id, which is the URL that served the document. */
  readonly id: URL
  readonly document: Foreign
}

/**
 * Fetches objects of other servers from their origin. Contexts in them are compared by name and never fetched (row 33).
 */
export class ObjectFetcher extends Context.Service<ObjectFetcher, {
  /**
   * Fetches the object at a URL. It is believed if the URL that served it is its id. Otherwise its id is fetched, once,
   * and must then match (row 1). `places` are URLs that the same look-up requested before.
   */
  readonly fetch: (url: string, places?: RequestedUrls) => Effect.Effect<FetchedDocument, OutboundError | Implausible>
  /** As `fetch`, but the URL may be an HTML page that links to its object. */
  readonly discover: (url: string, places: RequestedUrls) => Effect.Effect<FetchedDocument, OutboundError | Implausible>
}>()("murmuration/services/federation/ObjectFetcher") {
  static readonly layerNoDeps = Layer.effect(
    ObjectFetcher,
    Effect.gen(function*() {
      const { outboundAllow, publicUrl } = yield* ServerConfig
      const fetchUnshared = yield* documentFetcher
      const shared = yield* HostDocuments
      const readUrl = urlReader(outboundAllow)
      const own = new URL(publicUrl).host

      /** A look-up that has already requested URLs is not shared: its redirect limit and loop check depend on them. */
      const had = Effect.fnUntraced(function*(url: string, as: "object" | "objectOrPage", places: RequestedUrls) {
        if (shared === undefined || places.size > 0) return yield* fetchUnshared({ url, as }, places)
        const found = yield* Allowances.delegate(url, shared({ url, as }))
        for (const place of found.visited) places.add(place)
        return found
      })

      const fetchOnce = Effect.fnUntraced(function*(asked: string, places: RequestedUrls) {
        // Our own objects are not learnt from outside.
        if (URL.parse(asked)?.host === own) {
          return yield* new Implausible({ url: asked, reason: "an id of this server" })
        }
        const { text, url } = yield* had(asked, "object", places)
        return yield* Result.match(BoundedJson.parse(text), {
          onSuccess: (value) => read(url, value),
          onFailure: () => new Refused({ url, rule: "body" })
        })
      })

      const read = Effect.fnUntraced(function*(servedBy: string, value: unknown) {
        const implausible = (reason: string) => new Implausible({ url: servedBy, reason })
        const document = asForeign(value)
        const id = readUrl(document?.["id"])
        if (document === undefined || id === undefined) return yield* implausible("no object with an id")
        // A redirect may lead back to this server.
        if (id.host === own || URL.parse(servedBy)?.host === own) return yield* implausible("it is ours")
        if (!asList(document["@context"]).includes(activityStreams)) return yield* implausible("no ActivityStreams")
        return { document, id, servedBy }
      })

      const byId = traced("ObjectFetcher.fetch")(function*(url: string, places: RequestedUrls = new Set()) {
        return yield* atOwnId(yield* fetchOnce(url, places), places)
      })

      const atOwnId = Effect.fnUntraced(
        function*(first: FetchedDocument & { readonly servedBy: string }, places: RequestedUrls) {
          const found = first.id.href === first.servedBy ? first : yield* fetchOnce(first.id.href, places)
          if (found.id.href !== found.servedBy) {
            return yield* new Implausible({ url: found.servedBy, reason: "its id does not match its URL" })
          }
          return { id: found.id, document: found.document }
        }
      )

      const discover = traced("ObjectFetcher.discover")(function*(url: string, places: RequestedUrls) {
        if (URL.parse(url)?.host === own) return yield* new Implausible({ url, reason: "an id of this server" })
        const { text: value, ...found } = yield* had(url, "objectOrPage", places)
        if (DocumentTypes.activity.accepts(...DocumentTypes.parse(found.contentType))) {
          const parsed = Result.getOrElse(BoundedJson.parse(value), () => undefined)
          return yield* atOwnId(yield* read(found.url, parsed), places)
        }
        const alternate = alternateIn({ ...found, value })
        return yield* alternate === undefined
          ? new Implausible({ url, reason: "a page without a link to an object" })
          : byId(alternate, places)
      })
      return ObjectFetcher.of({ fetch: byId, discover })
    })
  )
  static readonly layer = ObjectFetcher.layerNoDeps.pipe(Layer.provide([Signatures.layer, SigningKeys.layer]))
}
