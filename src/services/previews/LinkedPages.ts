import { Context, Effect, Layer } from "effect"
import { embeddingOf } from "../cards/Embeddings.ts"
import { pageCard } from "../cards/PageCards.ts"
import { readPage } from "../cards/PageMetadata.ts"
import { documentFetcher, HostDocuments } from "../federation/HostDocuments.ts"
import { Signatures } from "../federation/signatures/Signatures.ts"
import { SigningKeys } from "../federation/SigningKeys.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"

/** Maximum bytes of an oEmbed response, and its timeout in seconds. */
const embeddingBytesMax = 65_536
const embeddingSecondsMax = 10

const anyJson: DocumentType = {
  accept: "application/json, application/json+oembed",
  accepts: (type) => /^(?:application|text)\/(?:[\w.-]+\+)?(?:json|javascript)(?:\+oembed)?$/.test(type)
}

/** A page that was read. */
interface ReadPage {
  /** Final URL after redirects. */
  readonly url: string
  /** Undefined if the page has no metadata. */
  readonly found: ReturnType<typeof pageCard>
}

/** Web pages, fetched through the actors of their hosts. */
export class Pages extends Context.Service<Pages, {
  readonly read: (url: string) => Effect.Effect<ReadPage, OutboundError>
}>()("murmuration/services/previews/Pages") {
  static readonly layerNoDeps = Layer.effect(
    Pages,
    Effect.gen(function*() {
      const { localDomain, publicUrl } = yield* ServerConfig
      const fetchUnshared = yield* documentFetcher
      const shared = yield* HostDocuments
      const outbound = yield* Outbound
      const ours = new Set([localDomain, URL.parse(publicUrl)?.host])

      /** Fetches the page's oEmbed description; undefined on failure, as it is optional. */
      const embedding = Effect.fnUntraced(function*(address: string | undefined, pageUrl: string) {
        const url = address === undefined ? null : URL.parse(address, pageUrl)
        if (url === null || ours.has(url.host)) return undefined
        if (pageUrl.startsWith("https:") && url.protocol === "http:") url.protocol = "https:"
        const { value } = yield* outbound.json({ url: url.href, type: anyJson, bytesMax: embeddingBytesMax })
        return embeddingOf(value, pageUrl)
      }, (effect) =>
        effect.pipe(
          Effect.timeout(`${embeddingSecondsMax} seconds`),
          Effect.orElseSucceed(() => undefined)
        ))

      const read = traced("Pages.read")(function*(asked: string) {
        const { text, url } = yield* (shared ?? fetchUnshared)({ url: asked, as: "page" })
        // Redirected to this server.
        if (ours.has(URL.parse(url)?.host)) return { url, found: undefined }
        const page = yield* readPage(text)
        return { url, found: pageCard(page, url, yield* embedding(page.embedding, url)) }
      })
      return Pages.of({ read })
    })
  )
  static readonly layer = Pages.layerNoDeps.pipe(Layer.provide([Signatures.layer, SigningKeys.layer]))
}
