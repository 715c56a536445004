import type { ServerConfig } from "../../instance/ServerConfig.ts"
import * as Urls from "../../instance/Urls.ts"
import { activityStreams, type Document, moment } from "./Vocabulary.ts"

const fep = "https://w3id.org/fep/7aa9#"

/** JSON-LD context of collections of accounts (FEP-7aa9; federation.md section 11). */
export const collectionContext = [activityStreams, {
  toot: "http://joinmastodon.org/ns#",
  gts: "https://gotosocial.org/ns#",
  discoverable: "toot:discoverable",
  sensitive: "as:sensitive",
  Hashtag: "as:Hashtag",
  FeaturedCollection: `${fep}FeaturedCollection`,
  FeaturedItem: `${fep}FeaturedItem`,
  FeatureRequest: `${fep}FeatureRequest`,
  FeatureAuthorization: `${fep}FeatureAuthorization`,
  topic: { "@id": `${fep}topic`, "@type": "@id" },
  featuredObject: { "@id": `${fep}featuredObject`, "@type": "@id" },
  featureAuthorization: { "@id": `${fep}featureAuthorization`, "@type": "@id" },
  interactingObject: { "@id": "gts:interactingObject", "@type": "@id" },
  interactionTarget: { "@id": "gts:interactionTarget", "@type": "@id" }
}]

/** An account in a collection, by ActivityPub ids; `authorization` is the id of its consent. */
interface ItemFacts {
  readonly id: string
  readonly account: string
  readonly authorization: string
  readonly createdAt: Date
}

/** A local account's collection, as its document shows it. */
export interface CollectionFacts {
  readonly id: string
  /** URL of its page. */
  readonly url: string
  readonly actor: string
  readonly name: string
  readonly description: string
  readonly language: string | null
  readonly sensitive: boolean
  readonly discoverable: boolean
  readonly tagName: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly items: ReadonlyArray<ItemFacts>
}

export const itemDocument = ({ account, authorization, createdAt, id }: ItemFacts): Document => ({
  id,
  type: "FeaturedItem",
  featuredObject: account,
  featureAuthorization: authorization,
  published: moment(createdAt)
})

export const collectionDocument = (
  config: Pick<ServerConfig["Service"], "publicUrl">,
  { actor, createdAt, description, discoverable, id, items, language, name, sensitive, tagName, updatedAt, url }:
    CollectionFacts
): Document => ({
  id,
  type: "FeaturedCollection",
  totalItems: items.length,
  name,
  attributedTo: actor,
  url,
  ...(language === null ? { summary: description } : { summaryMap: { [language]: description } }),
  sensitive,
  discoverable,
  ...(tagName === null
    ? {}
    : { topic: { type: "Hashtag", href: Urls.tag(config, tagName), name: `#${tagName}` } }),
  published: moment(createdAt),
  updated: moment(updatedAt),
  orderedItems: items.map(itemDocument)
})

/** Returns a featured account's consent as a document. */
export const authorizationDocument = (id: string, account: string, collection: string): Document => ({
  id,
  type: "FeatureAuthorization",
  interactingObject: collection,
  interactionTarget: account
})
