import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { hashtag } from "../../services/federation/documents/HashtagDocument.ts"
import { noteContext } from "../../services/federation/documents/NoteDocument.ts"
import { collection, collectionPage } from "../../services/federation/documents/PagedCollection.ts"
import { activityStreams } from "../../services/federation/documents/Vocabulary.ts"
import { FollowerDigests } from "../../services/federation/FollowerDigests.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { Objects } from "../../services/federation/Objects.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type ClientError, NotAllowed } from "../../services/runtime/Errors.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { Relationships } from "../../services/social/Relationships.ts"
import { AccountStatuses } from "../../services/statuses/AccountStatuses.ts"
import { FeaturedTags } from "../../services/statuses/FeaturedTags.ts"
import { Admission } from "./Admission.ts"
import { document, idIn, queryOf, refused } from "./DocumentResponse.ts"
import { type OwnerBase, ownerBases, ownerIn } from "./OwnerPaths.ts"
import { Portability } from "./Portability.ts"
import { NotSigned, Requesters } from "./Requesters.ts"

/** Activities and accounts per page (federation.md section 4). */
const outboxPageRows = 20
const accountsPageRows = 12

const selection = {
  onlyMedia: false,
  excludeReplies: false,
  excludeReblogs: false,
  excludeDirect: true,
  tagged: undefined
}

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const { admit } = yield* Admission
  const actors = yield* LocalActors
  const config = yield* ServerConfig
  const followLists = yield* FollowLists
  const digests = yield* FollowerDigests
  const objects = yield* Objects
  const portability = yield* Portability
  const published = yield* AccountStatuses
  const relationships = yield* Relationships
  const requesters = yield* Requesters
  const tags = yield* FeaturedTags

  /** Returns the account in the path if it shows its collections, with the requester and the query. */
  const asked = Effect.gen(function*() {
    const requester = yield* requesters.current
    const account = yield* actors.open(ownerIn(yield* HttpRouter.params))
    const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
    const record = (yield* accounts.load([account.id])).find(({ id }) => id === account.id)
    return { ...requester, account, actor: LocalIds.actor(config, account.actorPath), query, record }
  })

  const outbox = Effect.gen(function*() {
    const { account, actor, scope, query, record, viewer } = yield* asked
    const id = LocalIds.outbox(actor)
    if (query.get("page") !== "true") {
      const totalItems = record?.statusesCount ?? 0
      const [first, last] = [`${id}?page=true`, `${id}?min_id=0&page=true`]
      return yield* document(collection("OrderedCollection", id, { totalItems, first, last }), scope)
    }
    const [maxId, minId] = [idIn(query, "max_id"), idIn(query, "min_id")]
    const ids = yield* published.page(viewer, account.id, selection, { maxId, minId, limit: outboxPageRows })
    const loaded = yield* objects.load(ids)
    const [newest, oldest] = [ids[0], ids.at(-1)]
    const page = collectionPage("OrderedCollectionPage", id, {
      query: `${minId !== undefined ? `min_id=${minId}&` : maxId !== undefined ? `max_id=${maxId}&` : ""}page=true`,
      items: ids.flatMap((status) => loaded.get(status)?.activity ?? []),
      next: oldest === undefined || ids.length < outboxPageRows ? undefined : `max_id=${oldest}&page=true`,
      prev: newest === undefined ? undefined : `min_id=${newest}&page=true`
    })
    return yield* document({ "@context": noteContext, ...page }, scope)
  })

  const people = (which: "followers" | "following") =>
    Effect.gen(function*() {
      const { account, actor, scope, query, record, viewer } = yield* asked
      const id = which === "followers" ? LocalIds.followers(actor) : LocalIds.following(actor)
      const hidden = account.hideCollections
      if (query.get("page") === null) {
        const totalItems = (which === "followers" ? record?.followersCount : record?.followingCount) ?? 0
        const first = hidden ? {} : { first: `${id}?page=true` }
        return yield* document(collection("OrderedCollection", id, { totalItems, ...first }), scope)
      }
      if (hidden) return yield* new NotAllowed()
      const maxId = idIn(query, "max_id")
      const rows = yield* followLists[which](viewer, account, { maxId, limit: accountsPageRows })
      const known = new Map(
        (yield* accounts.load(rows.map(({ accountId }) => accountId))).map((other) => [other.id, other])
      )
      const items = rows.flatMap(({ accountId }) => known.get(accountId) ?? [])
        .map(({ actorPath, uri }) => uri ?? LocalIds.actor(config, actorPath))
      const last = rows.length < accountsPageRows ? undefined : rows.at(-1)?.cursor
      const page = collectionPage("OrderedCollectionPage", id, {
        query: `${maxId === undefined ? "" : `max_id=${maxId}&`}page=true`,
        items,
        next: last === undefined ? undefined : `max_id=${last}&page=true`
      })
      return yield* document({ "@context": activityStreams, ...page }, scope)
    })

  /** Lists only followers on the requester's own server. */
  const synchronization = Effect.gen(function*() {
    const { account, actor, refusal, scope, viewer } = yield* asked
    if (viewer === undefined) {
      return yield* refusal ?? new NotSigned({ text: "Request not signed", malformed: false })
    }
    const orderedItems = yield* Effect.orDie(digests.followersAt(account.id, viewer))
    const id = LocalIds.followersSynchronization(actor)
    return yield* document({ ...collection("OrderedCollection", id, {}), orderedItems }, scope)
  })

  const featured = Effect.gen(function*() {
    const { account, actor, scope, viewer } = yield* asked
    const ids = yield* published.pinned(viewer, account.id)
    const loaded = yield* objects.load(ids)
    const orderedItems = ids.flatMap((status) => loaded.get(status)?.note ?? [])
    const [id, totalItems] = [LocalIds.featured(actor), orderedItems.length]
    return yield* document({
      ...collection("OrderedCollection", id, { totalItems }),
      "@context": noteContext,
      orderedItems
    }, scope)
  })

  const featuredTags = Effect.gen(function*() {
    const { account, actor, scope, viewer } = yield* asked
    const related = viewer === undefined ? [] : yield* relationships.of(viewer, [account.id], { withSuspended: true })
    // Accounts that it blocks see an empty collection (federation.md section 4).
    const shown = related.some(({ blockedBy }) => blockedBy) ? [] : yield* tags.of(account.id)
    const items = shown.map(({ name }) => hashtag(config, account.username, name))
    const id = LocalIds.featuredTags(actor)
    return yield* document({
      ...collection("Collection", id, { totalItems: items.length }),
      "@context": noteContext,
      items
    }, scope)
  })

  const admitted = <R>(part: Effect.Effect<HttpServerResponse.HttpServerResponse, ClientError | NotSigned, R>) =>
    admit("documents", Effect.catch(part, refused))
  const ofOwner = (base: OwnerBase) =>
    [
      HttpRouter.add("GET", `${base}/outbox`, admitted(outbox)),
      HttpRouter.add("GET", `${base}/followers`, admitted(people("followers"))),
      HttpRouter.add("GET", `${base}/followers_synchronization`, admitted(synchronization)),
      HttpRouter.add("GET", `${base}/following`, admitted(portability.following(people("following")))),
      HttpRouter.add("GET", `${base}/collections/featured`, admitted(featured)),
      HttpRouter.add("GET", `${base}/collections/tags`, admitted(featuredTags))
    ] as const
  const [byName, byId] = ownerBases
  return Layer.mergeAll(...ofOwner(byName), ...ofOwner(byId))
})

/** Collections of local accounts, paged and filtered by what the requester may see (rows 55, 60). */
export const layer = Layer.unwrap(make)
