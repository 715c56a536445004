import { Effect } from "effect"
import { CollectionWriter } from "../../../services/collections/CollectionWriter.ts"
import { activityTypeOf } from "../../../services/federation/documents/ActivityTypes.ts"
import {
  foreignCollection,
  type ForeignItem,
  foreignItem
} from "../../../services/federation/documents/ForeignCollection.ts"
import {
  asForeign,
  type Foreign,
  idOf,
  idsOf,
  typeOf,
  urlReader
} from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { RemoteFeaturedCollections } from "../../../services/federation/inbox/RemoteFeaturedCollections.ts"
import { FeatureActivities } from "../../../services/federation/outbox/FeatureActivities.ts"
import { NotificationWriter } from "../../../services/feeds/NotificationWriter.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Jobs } from "../../../services/intents/Jobs.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"
import * as Sending from "../fanout/Sending.ts"

/** Maximum length of a stored request id, in characters. */
const requestCharactersMax = 2_000

/** Handles a remote account's collections of accounts, and its membership in local ones (FEP-7aa9). */
export const make = Effect.gen(function*() {
  const activities = yield* FeatureActivities
  const collections = yield* RemoteFeaturedCollections
  const members = yield* CollectionWriter
  const notifications = yield* NotificationWriter
  const jobs = yield* Jobs
  const knownUris = yield* KnownUris
  const send = yield* Sending.make
  const { outboundAllow } = yield* ServerConfig
  const readUrl = urlReader(outboundAllow)

  /** Stores items of the sender's collection. A job checks the consents that need a fetch. */
  const storeItems = Effect.fnUntraced(function*(self: InboundSender, id: bigint, items: ReadonlyArray<ForeignItem>) {
    if (yield* collections.keepItems(self.uri, id, items)) yield* jobs.enqueue("features", id)
  })

  /** Stores the sender's collection as its document describes it. */
  const store = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, document: unknown) {
    const collection = foreignCollection(document, self.uri, readUrl)
    if (collection === undefined) return yield* ignored("not a collection of the sender")
    const stored = yield* collections.store(own.accountId, collection)
    if (stored === undefined) return yield* ignored("not the sender's, or too many")
    yield* storeItems(self, stored.id, collection.items)
    if (stored.significant) {
      const memberIds = yield* members.members(stored.id)
      yield* notifications.notifyAbout("collection_update", own.accountId, stored.id, memberIds)
    }
    return done
  })

  /** Queues a fetch of the account's collections: an activity named a collection or an item by its id alone. */
  const enqueueFetch = (own: Ownership) => Effect.as(jobs.enqueue("collections", own.accountId), done)

  /** Handles an Update that names the sender's collection by its id; undefined for any other id. */
  const changed = Effect.fnUntraced(function*(own: Ownership, uri: string) {
    const known = yield* collections.known(own.accountId, uri, false)
    return known === undefined ? undefined : yield* enqueueFetch(own)
  })

  /**
   * Handles an Add or Remove whose target is the sender's list of collections or one of its collections; undefined for
   * any other target.
   */
  const change = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, activity: Foreign) {
    const target = idOf(activity["target"]) ?? ""
    const { object } = activity
    const adds = activityTypeOf(activity) === "Add"
    if (target !== "" && target === self.featuredCollectionsUrl) {
      if (adds) return typeof object === "string" ? yield* enqueueFetch(own) : yield* store(own, self, object)
      yield* collections.remove(own.accountId, idOf(object) ?? "")
      return done
    }
    const id = target === "" ? undefined : yield* collections.known(own.accountId, target, false)
    if (id === undefined) return undefined
    const owner = URL.parse(self.uri)
    const item = owner === null ? undefined : foreignItem(object, owner, readUrl)
    if (adds && typeof object === "string") return yield* enqueueFetch(own)
    if (!adds) yield* collections.removeItem(id, idOf(object) ?? "")
    else if (item !== undefined) yield* storeItems(self, id, [item])
    return done
  })

  /** Handles a request to feature a local account, which accepts or rejects it by its settings. */
  const request = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, activity: Foreign) {
    const target = yield* knownUris.localAccount(idOf(activity["object"]) ?? "")
    const uri = readUrl(idOf(activity["instrument"]))
    const asked = idOf(activity) ?? ""
    const origin = URL.parse(self.uri)?.origin
    if (target === undefined) return yield* ignored("no local recipient")
    if (
      uri?.origin !== origin || URL.parse(asked)?.origin !== origin || uri === undefined ||
      asked.length > requestCharactersMax
    ) return yield* ignored("an id of another server")
    const collection = foreignCollection(activity["instrument"], self.uri, readUrl)
    const stored = collection && (yield* collections.store(own.accountId, collection))
    const before = stored?.id ?? (yield* collections.known(own.accountId, uri.href, false))
    const id = before ?? (yield* collections.known(own.accountId, uri.href, true))
    // The collection's own data is fetched later.
    if (before === undefined && id !== undefined) yield* jobs.enqueue("collections", own.accountId)
    const item = id === undefined ? undefined : yield* collections.admit(own.accountId, id, target, asked)
    yield* send(activities.respond(target, own.accountId, asked, item))
    if (item === undefined || id === undefined) return yield* ignored("the request is refused")
    yield* notifications.notifyAbout("added_to_collection", own.accountId, id, [target])
    return done
  })

  /** Handles a reply to a local request; undefined if the object is not a FeatureRequest of this server. */
  const settled = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, activity: Foreign) {
    const { object } = activity
    const request = asForeign(object)
    const uri = idOf(object) ?? ""
    if (request === undefined ? !uri.includes("#feature_requests/") : typeOf(request, "FeatureRequest") === undefined) {
      return undefined
    }
    const accepts = activityTypeOf(activity) === "Accept"
    const approval = readUrl(idsOf(activity["result"])[0])
    if (accepts && approval?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("no valid proof of consent")
    const item = yield* collections.settled(own.accountId, uri, accepts ? approval?.href : undefined)
    if (item === undefined) return yield* ignored("no pending request of this server")
    if (accepts) yield* activities.tell(item.ownerId, "AddItem", item.collectionId, item.id)
    return done
  })

  /** Handles the sender's withdrawal of a consent or a membership; undefined if the object is neither. */
  const withdrawn = Effect.fnUntraced(function*(own: Ownership, object: unknown) {
    const item = yield* collections.withdrawn(own.accountId, idOf(object) ?? "")
    if (item === undefined) return (yield* collections.left(own.accountId, idOf(object) ?? "")) ? done : undefined
    yield* activities.tell(item.ownerId, "RemoveItem", item.collectionId, item.id, [item.accountId])
    return done
  })

  return { settled, change, changed, request, store, withdrawn }
})
