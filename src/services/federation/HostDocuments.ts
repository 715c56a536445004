import { Context, Effect, Schema } from "effect"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { Places } from "../outbound/HttpRedirects.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { SigningKeys } from "./SigningKeys.ts"

/**
 * An address that is asked for an object; for one that may also be a page for people, which leads to it (`objectOrPage`); or for
 * the beginning of a page, which nobody signs for.
 */
export const WantedDocument = Schema.Struct({
  url: Schema.String,
  as: Schema.Literals(["object", "objectOrPage", "page"])
})
export type WantedDocument = typeof WantedDocument.Type

/** The fetched text, and the addresses that were asked for it one after the other, the last of them `url`. */
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
 * Asks a host by way of its actor, so that a document is fetched once for all who ask at that time, on whatever node.
 * Undefined where there are no actors: each process asks for itself then, as the command line does.
 */
export const HostDocuments = Context.Reference<Ask | undefined>("murmuration/services/federation/HostDocuments", {
  defaultValue: () => undefined
})

const types = {
  object: DocumentTypes.activity,
  objectOrPage: DocumentTypes.activityOrPage,
  page: DocumentTypes.html
}

/** Asks in the name of the server. `places` are those that the same look-up asked before. */
export const asking = Effect.gen(function*() {
  const keys = yield* SigningKeys
  const outbound = yield* Outbound
  const signatures = yield* Signatures

  const sign = Effect.fnUntraced(function*(url: URL) {
    const key = yield* keys.ofInstance
    return yield* signatures.sign("draft-cavage", key, { method: "GET", url, headers: {}, body: undefined })
  })

  return Effect.fnUntraced(function*({ as, url }: WantedDocument, places: Places = new Set()) {
    const before = places.size
    const found = yield* as === "page"
      ? outbound.text({ url, type: types[as], places, beginning: true })
      : outbound.text({ url, type: types[as], places, sign })
    const { contentType, link, url: servedBy, value } = found
    return { url: servedBy, text: value, contentType, link, visited: [...places].slice(before) } satisfies HostDocument
  })
})
