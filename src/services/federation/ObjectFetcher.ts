import { Context, Effect, Layer, Result, Schema } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Allowances from "../outbound/Allowances.ts"
import * as BoundedJson from "../outbound/BoundedJson.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { Places } from "../outbound/HttpRedirects.ts"
import { type OutboundError, Refused } from "../outbound/OutboundError.ts"
import { traced } from "../Traced.ts"
import { alternateIn } from "./documents/Alternates.ts"
import { asForeign, asList, type Foreign, urlReader } from "./documents/Reading.ts"
import { activityStreams } from "./documents/Vocabulary.ts"
import { asking, HostDocuments } from "./HostDocuments.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { SigningKeys } from "./SigningKeys.ts"

/** A document that was fetched but is not to be believed. */
export class Implausible extends Schema.TaggedError<Implausible>()("Implausible", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.url}: ${this.reason}`
  }
}

/** Returns true for failures after which another try could end otherwise. */
export const isPassing = (error: OutboundError | Implausible): boolean =>
  error._tag === "Unreachable" || (error._tag === "Answered" && (error.status >= 500 || error.status === 429))

export interface FetchedDocument {
  /** The id, which is the address that served it. */
  readonly id: URL
  readonly document: Foreign
}

/** Objects of other servers, from their origin. Contexts in them are compared by name and never fetched (row 33). */
export class ObjectFetcher extends Context.Service<ObjectFetcher, {
  /**
   * The object behind an address. It is believed where it was served from the address that is its id; another address
   * leads to the id at most once, and then that must hold (row 1). `places` are those that the same look-up asked before.
   */
  readonly fetch: (url: string, places?: Places) => Effect.Effect<FetchedDocument, OutboundError | Implausible>
  /** The same for an address that may be that of a page for people, which says where its object is. */
  readonly discover: (url: string, places: Places) => Effect.Effect<FetchedDocument, OutboundError | Implausible>
}>()("murmuration/services/federation/ObjectFetcher") {
  static readonly layerNoDeps = Layer.effect(
    ObjectFetcher,
    Effect.gen(function*() {
      const { outboundAllow, publicUrl } = yield* ServerConfig
      const alone = yield* asking
      const shared = yield* HostDocuments
      const readUrl = urlReader(outboundAllow)
      const own = new URL(publicUrl).host

      /** A look-up that was elsewhere before goes on by itself: where it may go depends on where it was. */
      const had = Effect.fnUntraced(function*(url: string, as: "object" | "objectOrPage", places: Places) {
        if (shared === undefined || places.size > 0) return yield* alone({ url, as }, places)
        const found = yield* Allowances.passedOn(url, shared({ url, as }))
        for (const place of found.visited) places.add(place)
        return found
      })

      const once = Effect.fnUntraced(function*(asked: string, places: Places) {
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
        // A redirect may lead back to us.
        if (id.host === own || URL.parse(servedBy)?.host === own) return yield* implausible("it is ours")
        if (!asList(document["@context"]).includes(activityStreams)) return yield* implausible("no ActivityStreams")
        return { document, id, servedBy }
      })

      const byId = traced("ObjectFetcher.fetch")(function*(url: string, places: Places = new Set()) {
        return yield* atItsId(yield* once(url, places), places)
      })

      const atItsId = Effect.fnUntraced(
        function*(first: FetchedDocument & { readonly servedBy: string }, places: Places) {
          const found = first.id.href === first.servedBy ? first : yield* once(first.id.href, places)
          if (found.id.href !== found.servedBy) {
            return yield* new Implausible({ url: found.servedBy, reason: "its id does not match its URL" })
          }
          return { id: found.id, document: found.document }
        }
      )

      const discover = traced("ObjectFetcher.discover")(function*(url: string, places: Places) {
        if (URL.parse(url)?.host === own) return yield* new Implausible({ url, reason: "an id of this server" })
        const { text: value, ...found } = yield* had(url, "objectOrPage", places)
        if (DocumentTypes.activity.accepts(...DocumentTypes.parse(found.contentType))) {
          const parsed = Result.getOrElse(BoundedJson.parse(value), () => undefined)
          return yield* atItsId(yield* read(found.url, parsed), places)
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
