import { Context, Effect, Layer } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"
import { asForeign, asList, type Foreign, urlReader } from "./documents/Reading.ts"
import { parseHandle } from "./DomainNames.ts"
import * as HostMeta from "./HostMeta.ts"
import { Implausible } from "./ObjectFetcher.ts"

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

      const ask = Effect.fnUntraced(function*(username: string, domain: string) {
        const [base, resource] = [baseOf(domain), `acct:${username}@${domain}`]
        const url = `${base}/.well-known/webfinger?resource=${encodeURIComponent(resource)}`
        const { value } = yield* outbound.json({ url, type: DocumentTypes.jrd }).pipe(
          Effect.catchTag("ErrorResponse", (error) =>
            error.status === 404
              ? Effect.flatMap(descriptorAt(base, resource), (other) =>
                other === undefined || other === url ? error : outbound.json({ url: other, type: DocumentTypes.jrd }))
              : error)
        )
        const document = asForeign(value) ?? {}
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
      return WebFingers.of({ resolve })
    })
  )
}
