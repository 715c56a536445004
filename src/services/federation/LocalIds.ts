import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"

/* The ids under which other servers know what is ours. All are made from the configured address, never from a request. */

type Base = Pick<ServerConfig["Service"], "publicUrl">

export const { actor, note } = Urls

/** The server as an actor: it signs what is done for nobody in particular. */
export const instanceActor = ({ publicUrl }: Base): string => `${publicUrl}/actor`

/** Its name: the domain without the port that handles carry in a lab, which no name may have. */
export const instanceName = ({ localDomain }: Pick<ServerConfig["Service"], "localDomain">): string =>
  localDomain.replace(/:\d+$/, "")

export const key = (actor: string): string => `${actor}#main-key`
export const inbox = (actor: string): string => `${actor}/inbox`
export const outbox = (actor: string): string => `${actor}/outbox`
export const followers = (actor: string): string => `${actor}/followers`
/** The followers at the server that asks. */
export const followersSynchronization = (actor: string): string => `${actor}/followers_synchronization`
export const following = (actor: string): string => `${actor}/following`
export const featured = (actor: string): string => `${actor}/collections/featured`
export const featuredTags = (actor: string): string => `${actor}/collections/tags`
export const sharedInbox = ({ publicUrl }: Base): string => `${publicUrl}/inbox`

/** The consent of an actor to be quoted by a status. */
export const quoteAuthorization = (actor: string, statusId: bigint): string =>
  `${actor}/quote_authorizations/${statusId}`

/** The consent of an actor to a reply, favourite or reblog, by the number of the request for it. */
export const interactionAuthorization = (actor: string, requestId: bigint): string =>
  `${actor}/authorizations/${requestId}`
/** A request of an actor to do something with a post of somebody else. */
export const interactionRequest = (actor: string, requestId: bigint): string =>
  `${actor}#interaction_requests/${requestId}`

/** The Create or Announce of a status. */
export const activity = (note: string): string => `${note}/activity`
export const replies = (note: string): string => `${note}/replies`
export const likes = (note: string): string => `${note}/likes`
export const emojiReactions = (note: string): string => `${note}/emoji_reactions`
export const shares = (note: string): string => `${note}/shares`

/** What belongs to an account by its number, as collections of accounts do (FEP-7aa9). */
const numbered = ({ publicUrl }: Base, accountId: bigint): string => `${publicUrl}/ap/users/${accountId}`
export const featuredCollections = (base: Base, accountId: bigint): string =>
  `${numbered(base, accountId)}/featured_collections`
export const collection = (base: Base, accountId: bigint, id: bigint): string =>
  `${numbered(base, accountId)}/collections/${id}`
export const collectionItem = (base: Base, accountId: bigint, id: bigint): string =>
  `${numbered(base, accountId)}/collection_items/${id}`
/** What proves that the account agrees to stand in a collection. */
export const featureAuthorization = (base: Base, accountId: bigint, itemId: bigint): string =>
  `${numbered(base, accountId)}/feature_authorizations/${itemId}`

export const emoji = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/emojis/${id}`

/** The posts of a thread that began here, as a collection. */
export const context = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/contexts/${id}`

/** Names the thread for servers that group by it. */
export const conversation = ({ localDomain }: Pick<ServerConfig["Service"], "localDomain">, id: bigint): string =>
  `tag:${localDomain},2026:objectId=${id}:objectType=Conversation`
