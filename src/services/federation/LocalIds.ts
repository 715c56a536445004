import type { LocalName } from "../instance/LocalNames.ts"
import type { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"

/* Ids of local objects, as other servers know them. All are built from the configured URL, never from a request. */

type Base = Pick<ServerConfig["Service"], "publicUrl">

export const { ActorPath, actor, note } = Urls
export type ActorPath = Urls.ActorPath

/** Returns the id of a local account whose ids have this form of its name. */
export const namedActor = (base: Base, name: LocalName): string =>
  typeof name === "bigint" ? numbered(base, name) : `${base.publicUrl}/users/${name}`

/** Id of the server's own actor, which signs requests that no account makes. */
export const instanceActor = ({ publicUrl }: Base): string => `${publicUrl}/actor`

/**
 * Returns the instance actor's name: the domain without a port, as names cannot contain one (test setups have ports).
 */
export const instanceName = ({ localDomain }: Pick<ServerConfig["Service"], "localDomain">): string =>
  localDomain.replace(/:\d+$/, "")

/** Fragment of a local actor's key, unless the key came with another one. */
export const mainKey = "main-key"
export const key = (actor: string, fragment: string = mainKey): string => `${actor}#${fragment}`
export const inbox = (actor: string): string => `${actor}/inbox`
export const outbox = (actor: string): string => `${actor}/outbox`
export const followers = (actor: string): string => `${actor}/followers`
/** Followers on the server that asks. */
export const followersSynchronization = (actor: string): string => `${actor}/followers_synchronization`
export const following = (actor: string): string => `${actor}/following`
export const featured = (actor: string): string => `${actor}/collections/featured`
export const featuredTags = (actor: string): string => `${actor}/collections/tags`
/** Page on which a user lets another server copy the account (LOLA 0.2); it is that of all apps. */
export const portabilityAuthorization = ({ publicUrl }: Base): string => `${publicUrl}/oauth/authorize`
/** Collections that a server with the user's consent copies: posts with boosts, posts only, blocks and favourites. */
export const migration = (actor: string): string => `${actor}/migration`
export const content = (actor: string): string => `${actor}/content`
export const blocked = (actor: string): string => `${actor}/blocked`
export const liked = (actor: string): string => `${actor}/liked`
export const sharedInbox = ({ publicUrl }: Base): string => `${publicUrl}/inbox`

/** Consent of an actor to being quoted by a status. */
export const quoteAuthorization = (actor: string, statusId: bigint): string =>
  `${actor}/quote_authorizations/${statusId}`

/** Consent of an actor to a reply, favourite or reblog; `requestId` is the number of the request. */
export const interactionAuthorization = (actor: string, requestId: bigint): string =>
  `${actor}/authorizations/${requestId}`
/** Request of an actor to interact with another account's post. */
export const interactionRequest = (actor: string, requestId: bigint): string =>
  `${actor}#interaction_requests/${requestId}`

/** Create or Announce of a status. */
export const activity = (note: string): string => `${note}/activity`
export const replies = (note: string): string => `${note}/replies`
export const likes = (note: string): string => `${note}/likes`
export const emojiReactions = (note: string): string => `${note}/emoji_reactions`
export const shares = (note: string): string => `${note}/shares`

/** Prefix of ids that contain an account's number, as collections of accounts do (FEP-7aa9). */
const numbered = ({ publicUrl }: Base, accountId: bigint): string => `${publicUrl}/ap/users/${accountId}`
export const featuredCollections = (base: Base, accountId: bigint): string =>
  `${numbered(base, accountId)}/featured_collections`
export const collection = (base: Base, accountId: bigint, id: bigint): string =>
  `${numbered(base, accountId)}/collections/${id}`
export const collectionItem = (base: Base, accountId: bigint, id: bigint): string =>
  `${numbered(base, accountId)}/collection_items/${id}`
/** Proof that the account agrees to be in a collection. */
export const featureAuthorization = (base: Base, accountId: bigint, itemId: bigint): string =>
  `${numbered(base, accountId)}/feature_authorizations/${itemId}`

export const emoji = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/emojis/${id}`

/** Collection of a local thread's posts. */
export const context = ({ publicUrl }: Base, id: bigint): string => `${publicUrl}/contexts/${id}`
/** Collection of a thread that came from Mastodon, which names it by its first post and that post's author. */
export const contextOfRoot = ({ publicUrl }: Base, accountId: bigint, statusId: bigint): string =>
  `${publicUrl}/contexts/${accountId}-${statusId}`

/** Thread id for servers that group posts by it. */
export const conversation = ({ localDomain }: Pick<ServerConfig["Service"], "localDomain">, id: bigint): string =>
  `tag:${localDomain},2026:objectId=${id}:objectType=Conversation`
