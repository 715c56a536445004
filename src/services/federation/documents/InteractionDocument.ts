import type { RequestKind } from "../../statuses/InteractionRequest.ts"
import { activityTypeOf } from "./ActivityTypes.ts"
import { type Foreign, idOf, typeOf } from "./ForeignValues.ts"
import { noteContext } from "./NoteDocument.ts"
import type { Document } from "./Vocabulary.ts"

/*
 * Consent to replies, favourites and reblogs, in GoToSocial's terms: requests, and authorizations that prove consent.
 */

const kinds = ["favourite", "reply", "reblog"] as const
const requestTypes = { favourite: "LikeRequest", reply: "ReplyRequest", reblog: "AnnounceRequest" } as const
const stampTypes = {
  favourite: "LikeAuthorization",
  reply: "ReplyAuthorization",
  reblog: "AnnounceAuthorization"
} as const
/** Property that names the consent in the Like, the note and the Announce. */
const stampWords = {
  favourite: "likeAuthorization",
  reply: "replyAuthorization",
  reblog: "announceAuthorization"
} as const

const gts = (words: ReadonlyArray<string>) => Object.fromEntries(words.map((word) => [word, `gts:${word}`]))
/** Terms besides those of notes. */
const terms = {
  ...gts([...Object.values(requestTypes), ...Object.values(stampTypes)]),
  likeAuthorization: { "@id": "gts:likeAuthorization", "@type": "@id" }
}
export const interactionContext = [...noteContext, terms]

export const requestType = (kind: RequestKind): string => requestTypes[kind]

/** Returns the kind of interaction that is requested; undefined if the document is not a request. */
export const requestedKind = (document: Foreign): RequestKind | undefined =>
  kinds.find((kind) => requestTypes[kind] === activityTypeOf(document))

/** Returns the properties by which an interaction names its consent; `approvedBy` is from earlier versions. */
export const stamped = (kind: RequestKind, stamp: string): Document => ({
  [stampWords[kind]]: stamp,
  approvedBy: stamp
})

/** Maximum characters of a stored id. */
const uriCharactersMax = 2_000

/** Returns the id of the consent that an interaction names. */
export const stampNamed = (kind: RequestKind, document: Foreign): string | undefined => {
  const id = idOf(document[stampWords[kind]]) ?? idOf(document["approvedBy"])
  return id !== undefined && id.length <= uriCharactersMax && URL.canParse(id) ? id : undefined
}

/** Consent of the author of `target` to the interaction `object`. */
interface Consent {
  readonly kind: RequestKind
  readonly id: string
  readonly author: string
  readonly object: string
  readonly target: string
}

export const stampDocument = ({ author, id, kind, object, target }: Consent): Document & { readonly id: string } => ({
  id,
  type: stampTypes[kind],
  attributedTo: author,
  interactingObject: object,
  interactionTarget: target
})

/** Returns true if a document fetched from its own id states the same consent. */
export const isStamp = (document: Foreign, { author, kind, object, target }: Consent): boolean => {
  const of = idOf(document["interactionTarget"])
  return typeOf(document, stampTypes[kind]) !== undefined && idOf(document["attributedTo"]) === author &&
    idOf(document["interactingObject"]) === object && (of === undefined || of === target)
}
