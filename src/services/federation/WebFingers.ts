import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"
import { asForeign, asList, type Foreign, urlReader } from "./documents/ForeignValues.ts"
import { parseHandle } from "./DomainNames.ts"
import * as HostMeta from "./HostMeta.ts"
import { Implausible } from "./ObjectFetcher.ts"

/** Relation of the page on which a user follows or replies to others (OStatus 1.0). */
export const subscribeRel = "http://ostatus.org/schema/1.0/subscribe"

/** Returns the relation of an activity intent (FEP-3b86 section 3.2). */
export const intentRel = (name: "Announce" | "Create" | "Follow" | "Like" | "Object"): string =>
  `https://w3id.org/fep/3b86/${name}`

/** Matches a variable of a template. */
const variable = /\{[^{}]*\}/g

/** Fills a template with the URL of an object; unknown variables become empty (FEP-3b86 section 3.2). */
const filled = (template: string, name: string, object: string): string =>
  template.replaceAll(variable, (found) => found === name ? encodeURIComponent(object) : "")

/** A handle, and the actor that its domain names for it. */
interface Finger {
  readonly username: string
  readonly domain: string
  readonly actor: URL
}

/** Resolves handles by WebFinger (RFC 7033); if the domain replies 404, with the URL from its host-meta (RFC 6415). */
export class WebFingers extends Context.Service<WebFingers, {
  /**
   * Returns the actor of a handle. If the domain names another handle, that handle's domain must confirm the same
   * actor: an account cannot claim a domain that does not know it (row 12).
   */
  readonly resolve: (username: string, domain: string) => Effect.Effect<Finger, OutboundError | Implausible>
  /**
   * Returns the URL at which the server of a handle lets its user follow, or reply to, an account or a post; undefined if it
   * names none. It is read from the relation of OStatus, otherwise from the intents of FEP-3b86.
   */
  readonly subscription: (
    username: string,
    domain: string,
    object: { readonly kind: "account" | "status"; readonly url: string }
  ) => Effect.Effect<string | undefined, OutboundError>
}>()("murmuration/services/federation/WebFingers") {
  static readonly layer = Layer.effect(
    WebFingers,
    Effect.gen(function*() {
      const { outboundAllow } = yield* ServerConfig
      const outbound = yield* Outbound
      const descriptorAt = HostMeta.make(outbound)
      const readUrl = urlReader(outboundAllow)

      /**
       * Uses http only for literal addresses and localhost that may be contacted without TLS. Names always use https,
       * as they are not resolved yet.
       */
      const baseOf = (domain: string) =>
        (/^(?:localhost|\[|[0-9.]+(?::|$))/.test(domain) ? readUrl(`http://${domain}/`)?.origin : undefined) ??
          `https://${domain}`

      const selfOf = (document: Foreign) =>
        asList(document["links"]).flatMap((item) => {
          const link = asForeign(item)
          const [type, parameters] = DocumentTypes.parse(typeof link?.["type"] === "string" ? link["type"] : "")
          const url = readUrl(link?.["href"])
          return link?.["rel"] === "self" && DocumentTypes.activity.accepts(type, parameters) && url !== undefined
            ? [url]
            : []
        })[0]

      const descriptorOf = Effect.fnUntraced(function*(username: string, domain: string) {
        const [base, resource] = [baseOf(domain), `acct:${username}@${domain}`]
        const url = `${base}/.well-known/webfinger?resource=${encodeURIComponent(resource)}`
        const { value } = yield* outbound.json({ url, type: DocumentTypes.jrd }).pipe(
          Effect.catchTag("ErrorResponse", (error) =>
            error.status === 404
              ? Effect.flatMap(descriptorAt(base, resource), (other) =>
                other === undefined || other === url ? error : outbound.json({ url: other, type: DocumentTypes.jrd }))
              : error)
        )
        return { url, document: asForeign(value) ?? {} }
      })

      const ask = Effect.fnUntraced(function*(username: string, domain: string) {
        const { document, url } = yield* descriptorOf(username, domain)
        const subject = typeof document["subject"] === "string" ? parseHandle(document["subject"]) : undefined
        const actor = selfOf(document)
        if (subject === undefined || actor === undefined) return yield* new Implausible({ url, reason: "not an actor" })
        return { ...subject, actor }
      })

      const isSame = (one: { username: string; domain: string }, other: { username: string; domain: string }) =>
        one.username.toLowerCase() === other.username.toLowerCase() && one.domain === other.domain

      const resolve = traced("WebFingers.resolve")(function*(username: string, domain: string) {
        const first = yield* ask(username, domain)
        if (isSame(first, { username, domain })) return first
        const second = yield* ask(first.username, first.domain)
        return isSame(first, second) && second.actor.href === first.actor.href
          ? second
          : yield* new Implausible({ url: `acct:${username}@${domain}`, reason: "its domains do not agree" })
      })

      /** Relations in the order of preference, with the variable for the object. */
      const interactionsWith = (kind: "account" | "status"): ReadonlyArray<readonly [rel: string, name: string]> => [
        [subscribeRel, "{uri}"],
        ...(kind === "account" ? [[intentRel("Follow"), "{object}"] as const] : []),
        [intentRel("Object"), "{object}"]
      ]

      const subscription: WebFingers["Service"]["subscription"] = traced("WebFingers.subscription")(
        function*(username, domain, { kind, url: object }) {
          const { document } = yield* descriptorOf(username, domain)
          const links = asList(document["links"]).map((item) => asForeign(item) ?? {})
          return interactionsWith(kind).flatMap(([rel, name]) =>
            links.flatMap((link) => {
              const template = link["rel"] === rel ? link["template"] : undefined
              return typeof template === "string" && template.includes(name)
                ? readUrl(filled(template, name, object))?.href ?? []
                : []
            })
          )[0]
        }
      )
      return WebFingers.of({ resolve, subscription })
    })
  )
}
