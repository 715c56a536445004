/* Terms of ActivityStreams and its extensions (federation.md section 11); documents declare the ones that they use. */

export const activityStreams = "https://www.w3.org/ns/activitystreams"
const security = "https://w3id.org/security/v1"

/** The public audience. Other servers also write it in two shorter forms. */
export const publicCollection = `${activityStreams}#Public`
export const isPublicCollection = (id: string): boolean =>
  id === publicCollection || id === "as:Public" || id === "Public"

/** A document or part of one; property names are those on the wire. */
export type Document = Readonly<Record<string, unknown>>

/** Returns a document that uses only ActivityStreams terms, with its context. */
export const withContext = (document: Document): Document => ({ "@context": activityStreams, ...document })

/** Namespace of LOLA 0.2, which publishes no context, and that of FEP-c648. */
const portabilityTerms = "https://swicg.github.io/activitypub-data-portability/lola#"
const blockTerms = "https://purl.archive.org/socialweb/blocked#"

export const actorContext = [activityStreams, security, {
  manuallyApprovesFollowers: "as:manuallyApprovesFollowers",
  toot: "http://joinmastodon.org/ns#",
  featured: { "@id": "toot:featured", "@type": "@id" },
  featuredTags: { "@id": "toot:featuredTags", "@type": "@id" },
  featuredCollections: { "@id": "https://w3id.org/fep/7aa9#featuredCollections", "@type": "@id" },
  gts: "https://gotosocial.org/ns#",
  interactionPolicy: { "@id": "gts:interactionPolicy", "@type": "@id" },
  canFeature: { "@id": "https://w3id.org/fep/7aa9#canFeature", "@type": "@id" },
  automaticApproval: { "@id": "gts:automaticApproval", "@type": "@id" },
  movedTo: { "@id": "as:movedTo", "@type": "@id" },
  alsoKnownAs: { "@id": "as:alsoKnownAs", "@type": "@id" },
  attributionDomains: { "@id": "toot:attributionDomains", "@container": "@set" },
  discoverable: "toot:discoverable",
  indexable: "toot:indexable",
  memorial: "toot:memorial",
  suspended: "toot:suspended",
  showFeatured: "toot:showFeatured",
  showMedia: "toot:showMedia",
  showRepliesInMedia: "toot:showRepliesInMedia",
  webfinger: "https://purl.archive.org/socialweb/webfinger",
  schema: "http://schema.org#",
  PropertyValue: "schema:PropertyValue",
  value: "schema:value",
  Hashtag: "as:Hashtag",
  Emoji: "toot:Emoji",
  accountPortabilityOauth: { "@id": `${portabilityTerms}accountPortabilityOauth`, "@type": "@id" },
  implements: { "@id": "https://w3id.org/fep/844e#implements", "@type": "@id", "@container": "@set" }
}]

/** Context of an actor document for a server that copies the account. */
export const portableContext = [...actorContext, {
  migration: { "@id": `${portabilityTerms}migration`, "@type": "@id" },
  content: { "@id": `${portabilityTerms}content`, "@type": "@id" },
  blocked: { "@id": `${blockTerms}blocked`, "@type": "@id" }
}]

/** Returns a time with milliseconds, so that events of the same second are ordered. */
export const moment = (date: Date): string => date.toISOString()
