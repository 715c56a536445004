import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import type { QuoteRecord, StatusRecord } from "../../statuses/Statuses.ts"
import * as LocalIds from "../LocalIds.ts"
import { asForeign, asList, asText, type Foreign, idOf, type ReadUrl, typeOf } from "./ForeignValues.ts"
import type { Document } from "./Vocabulary.ts"

/* Quotes as defined by FEP-044f, and in the earlier terms of Fedibird, Misskey and FEP-e232. */

const fep = "https://w3id.org/fep/044f#"
const misskeyQuote = "https://misskey-hub.net/ns#_misskey_quote"

export const quoteTerms = {
  quote: { "@id": `${fep}quote`, "@type": "@id" },
  quoteAuthorization: { "@id": `${fep}quoteAuthorization`, "@type": "@id" },
  QuoteRequest: `${fep}QuoteRequest`,
  QuoteAuthorization: `${fep}QuoteAuthorization`,
  interactingObject: { "@id": "gts:interactingObject", "@type": "@id" },
  interactionTarget: { "@id": "gts:interactionTarget", "@type": "@id" },
  quoteUri: "http://fedibird.com/ns#quoteUri",
  quoteUrl: "as:quoteUrl",
  "_misskey_quote": misskeyQuote
}

type Config = Pick<ServerConfig["Service"], "publicUrl">
type Quoted = NonNullable<QuoteRecord["status"]>

/** Returns the quoted post's id and page. */
const idsOfQuoted = (config: Config, { actorPath, id, uri, url, username }: Quoted) => ({
  uri: uri ?? LocalIds.note(config, actorPath, BigInt(id)),
  url: url ?? uri ?? Urls.status(config, username, BigInt(id))
})

/**
 * Returns the quote properties of a local post; `link` is the URL to add to its HTML for servers that do not show
 * quotes.
 */
export const quoteDocument = (config: Config, record: StatusRecord): {
  readonly words: Document
  readonly tag: ReadonlyArray<Document>
  readonly link: string | undefined
} => {
  const { quote } = record
  if (quote === null) return { words: {}, tag: [], link: undefined }
  const { status } = quote
  if (status === null || status.deleted) return { words: { quote: { type: "Tombstone" } }, tag: [], link: undefined }
  const { uri, url } = idsOfQuoted(config, status)
  const isOwn = status.accountId === String(record.accountId)
  const stamp = quote.state !== "accepted" || isOwn
    ? undefined
    : status.local
    ? quote.authorizationUri ?? LocalIds.quoteAuthorization(LocalIds.actor(config, status.actorPath), record.id)
    : quote.authorizationUri ?? undefined
  return {
    words: {
      quote: uri,
      quoteUri: uri,
      quoteUrl: uri,
      "_misskey_quote": uri,
      ...(stamp === undefined ? {} : { quoteAuthorization: stamp })
    },
    tag: [{
      type: "Link",
      mediaType: "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"",
      rel: misskeyQuote,
      href: uri,
      name: `RE: ${url}`
    }],
    link: url
  }
}

/** Quote in a remote post. */
export interface ForeignQuote {
  readonly uri: string
  /** Id of the consent. */
  readonly authorization: string | undefined
  /** True if it uses only terms from before consent existed. */
  readonly legacy: boolean
}

/** Maximum characters of a stored id. */
const uriCharactersMax = 2_000

/** Fields that name the quoted post: FEP-044f's, and the earlier ones without consent. */
export const quoteFields = ["quote", "quoteUri", "_misskey_quote", "quoteUrl"] as const

const isPost = (mediaType: string | undefined) =>
  mediaType === "application/activity+json" ||
  (mediaType?.startsWith("application/ld+json") === true && mediaType.includes("https://www.w3.org/ns/activitystreams"))

const linked = (note: Foreign) =>
  asList(note["tag"]).flatMap((item) => {
    const tag = asForeign(item)
    if (tag === undefined || typeOf(tag, "Link") === undefined) return []
    const isQuote = asList(tag["rel"]).includes(misskeyQuote) || isPost(asText(tag["mediaType"], 256))
    return isQuote ? idOf(tag["href"]) ?? [] : []
  })

export const foreignQuote = (note: Foreign, readUrl: ReadUrl): ForeignQuote | undefined => {
  const read = (value: unknown) => {
    const id = idOf(value)
    return id !== undefined && id.length <= uriCharactersMax && readUrl(id) !== undefined ? id : undefined
  }
  const named = read(note["quote"])
  const uri = named ??
    [...quoteFields.map((field) => note[field]), ...linked(note)].flatMap((value) => read(value) ?? [])[0]
  return uri === undefined || uri === note["id"]
    ? undefined
    : { uri, authorization: read(note["quoteAuthorization"]), legacy: named === undefined }
}
