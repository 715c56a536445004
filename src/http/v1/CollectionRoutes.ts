import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { Command } from "../../actors/account/core/AccountProtocol.ts"
import type { CollectionRecord } from "../../services/collections/Collection.ts"
import { Collections } from "../../services/collections/Collections.ts"
import { AccountId, IdFromString } from "../../services/database/Ids.ts"
import { type OffsetPage, offsetPageOf } from "../../services/database/Paging.ts"
import { RemoteProfiles } from "../../services/federation/fetching/RemoteProfiles.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { NotAllowed, RecordNotFound, Unprocessable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { CollectionViews } from "../render/CollectionViews.ts"
import { deprecated } from "../render/Deprecation.ts"
import * as Lists from "../render/ListResponses.ts"
import * as Paging from "../render/PageLinks.ts"
import { accountRows } from "../render/PageSizes.ts"
import * as Wire from "../wire/Collection.ts"
import { list, withMembers } from "../wire/Keys.ts"
import { AccountIdPath, IdPath, StretchQuery } from "../wire/ReadRequests.ts"

const ItemsPath = { collectionId: IdFromString }
const ItemPath = { ...ItemsPath, id: IdFromString }
const reading = Access.public("read", "read:collections")
const writing = Access.user("write", "write:collections")

/** Declares the endpoints of one API version; the older version is frozen. */
const endpointsBelow = <const Name extends string>(name: Name, base: "/api/v1" | "/api/v1_alpha") => {
  const one = { params: IdPath, success: Wire.WrappedCollection }
  const written = { ...one, payload: Wire.CollectionWrite }
  const path = `${base}/collections` as const
  return HttpApiGroup.make(name)
    .add(
      HttpApiEndpoint.get("of", `${base}/accounts/:id/collections`, {
        params: AccountIdPath,
        query: StretchQuery,
        success: Wire.WrappedCollections
      }).annotate(Access, reading),
      HttpApiEndpoint.get("featuring", `${base}/accounts/:id/in_collections`, {
        params: AccountIdPath,
        query: StretchQuery,
        success: Wire.WrappedCollections
      }).annotate(Access, Access.user("read", "read:collections")),
      HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: Wire.CollectionWithAccounts })
        .annotate(Access, reading),
      HttpApiEndpoint.post("create", path, { payload: Wire.NewCollection, success: Wire.WrappedCollection })
        .annotate(Access, writing),
      HttpApiEndpoint.put("replace", `${path}/:id`, written).annotate(Access, writing),
      HttpApiEndpoint.patch("change", `${path}/:id`, written).annotate(Access, writing),
      HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Void }).annotate(
        Access,
        writing
      ),
      HttpApiEndpoint.post("add", `${path}/:collectionId/items`, {
        params: ItemsPath,
        payload: Wire.NewItem,
        success: Wire.WrappedItem
      }).annotate(Access, writing),
      HttpApiEndpoint.delete("take", `${path}/:collectionId/items/:id`, { params: ItemPath, success: Schema.Void })
        .annotate(Access, writing),
      HttpApiEndpoint.post("revoke", `${path}/:collectionId/items/:id/revoke`, {
        params: ItemPath,
        success: Schema.Void
      })
        .annotate(Access, writing)
    )
    .middleware(Guard)
}

export class CollectionsGroup extends endpointsBelow("collections", "/api/v1") {}
export class OlderCollectionsGroup extends endpointsBelow("olderCollections", "/api/v1_alpha") {}

/** Validation errors of collections are nested in an `error` object. */
const refusal = ({ details, message }: Pick<Unprocessable, "details" | "message">) =>
  Reply.refusal(JSON.stringify({ error: { error: message, details: details ?? {} } }), { status: 422 })
const orRefusal = <A, E, R>(work: Effect.Effect<A, E | Unprocessable, R>) =>
  Effect.catchIf(
    work,
    (failure): failure is Unprocessable => failure instanceof Unprocessable,
    (failure) => Effect.succeed(refusal(failure))
  )

interface ItemRequest {
  readonly params: { readonly id: bigint }
}
interface CollectionItemRequest {
  readonly params: { readonly collectionId: bigint; readonly id: bigint }
}
interface PageRequest {
  readonly params: { readonly id: AccountId }
  readonly query: typeof StretchQuery.Type
}
interface WriteRequest {
  readonly payload: typeof Wire.CollectionWrite.Type
}

/** Handlers of one API version; every response carries `headers`. */
const handlersFor = Effect.fnUntraced(function*(base: "/api/v1" | "/api/v1_alpha", headers: Record<string, string>) {
  const accounts = yield* Accounts
  const actors = yield* AccountActors
  const collections = yield* Collections
  const profiles = yield* RemoteProfiles
  const views = yield* CollectionViews
  const { publicUrl } = yield* ServerConfig

  const tell = (command: Command) =>
    Effect.flatMap(Caller.account, (viewer) => Effect.map(actors.tell(viewer, command), ({ id }) => BigInt(id)))
  const shown = Effect.fnUntraced(function*(id: bigint) {
    const collection = views.of(yield* collections.find(yield* Caller.viewer, id))
    return Reply.withHeaders(Reply.json(withMembers<Wire.WrappedCollection, "collection">({}, { collection })), headers)
  })
  const done = (command: Command) => Effect.as(tell(command), Reply.withHeaders(Reply.done(), headers))
  const page = (
    { params, query }: PageRequest,
    name: string,
    read: (stretch: OffsetPage) => Effect.Effect<ReadonlyArray<CollectionRecord>>
  ) =>
    Effect.gen(function*() {
      const stretch = offsetPageOf(query, accountRows)
      const found = yield* read(stretch)
      const link = Paging.offsetLink(publicUrl, `${base}/accounts/${params.id}/${name}`, stretch, found.length)
      return Reply.withHeaders(
        Reply.json(withMembers<Wire.WrappedCollections, "collections">({}, { collections: list(found.map(views.of)) })),
        { ...headers, ...(link !== undefined && { link }) }
      )
    })
  const change = ({ params, payload }: ItemRequest & WriteRequest) =>
    orRefusal(
      Effect.flatMap(tell({ _tag: "UpdateCollection", collectionId: params.id, said: Wire.changeOf(payload) }), shown)
    )

  return {
    of: traced("collections.of")(function*(asked: PageRequest) {
      const viewer = yield* Caller.viewer
      const { id, suspended } = yield* accounts.find(asked.params.id)
      if (viewer !== undefined && !suspended) yield* profiles.read(id)
      return yield* page(
        asked,
        "collections",
        (stretch) => suspended ? Effect.succeed([]) : collections.of(viewer, id, stretch)
      )
    }),
    featuring: traced("collections.featuring")(function*(asked: PageRequest) {
      const viewer = yield* Caller.account
      const { id } = yield* accounts.find(asked.params.id)
      // Only the account itself may see which collections feature it.
      if (id !== viewer) return yield* new NotAllowed()
      return yield* page(asked, "in_collections", (stretch) => collections.featuring(id, stretch))
    }),
    show: traced("collections.show")(function*({ params }: ItemRequest) {
      const collection = yield* collections.find(yield* Caller.viewer, params.id)
      return Reply.withHeaders(Reply.json(yield* views.withAccounts(collection)), headers)
    }),
    create: traced("collections.create")(({ payload }: { readonly payload: typeof Wire.NewCollection.Type }) => {
      const { accountIds = [], ...fields } = payload
      const ids = Lists.idsOf(accountIds).map((id) => AccountId.make(id))
      // An invalid id counts as an unknown account.
      if (ids.length < new Set(accountIds).size) return new RecordNotFound()
      return orRefusal(
        Effect.flatMap(tell({ _tag: "CreateCollection", said: Wire.changeOf(fields), accountIds: ids }), shown)
      )
    }),
    replace: traced("collections.change")(change),
    change: traced("collections.change")(change),
    remove: traced("collections.remove")(({ params }: ItemRequest) =>
      done({ _tag: "DeleteCollection", collectionId: params.id })
    ),
    add: traced("collections.add")(function*(
      { params, payload }: {
        readonly params: { readonly collectionId: bigint }
        readonly payload: typeof Wire.NewItem.Type
      }
    ) {
      const { collectionId } = params
      const [target] = Lists.idsOf(payload.accountId ? [payload.accountId] : [])
      if (!payload.accountId) return yield* new Unprocessable({ text: "`account_id` parameter is missing" })
      if (target === undefined) return yield* new RecordNotFound()
      const command = { _tag: "AddToCollection", collectionId, target: AccountId.make(target) } as const
      return yield* orRefusal(Effect.gen(function*() {
        const item = views.item(yield* collections.item(collectionId, yield* tell(command)))
        return Reply.withHeaders(
          Reply.json(withMembers<Wire.WrappedItem, "collectionItem">({}, { collectionItem: item })),
          headers
        )
      }))
    }),
    take: traced("collections.take")(({ params }: CollectionItemRequest) =>
      done({ _tag: "RemoveFromCollection", collectionId: params.collectionId, itemId: params.id })
    ),
    revoke: traced("collections.revoke")(({ params }: CollectionItemRequest) =>
      done({ _tag: "LeaveCollection", collectionId: params.collectionId, itemId: params.id })
    )
  }
})

/** Collections of recommended accounts, on the current paths and the deprecated alpha paths. */
export const layer = Layer.merge(
  group(
    CollectionsGroup,
    Effect.fn(function*(handlers) {
      return handlers.handleAll(yield* handlersFor("/api/v1", {}))
    })
  ),
  group(
    OlderCollectionsGroup,
    Effect.fn(function*(handlers) {
      return handlers.handleAll(yield* handlersFor("/api/v1_alpha", deprecated("2026-06-10")))
    })
  )
).pipe(Layer.provide(CollectionViews.layer))
