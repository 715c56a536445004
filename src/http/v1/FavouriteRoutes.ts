import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { Interactions } from "../../services/statuses/Interactions.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Account } from "../wire/Account.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import * as AccountListPages from "./AccountListPages.ts"
import * as MarkedPages from "./MarkedPages.ts"
import * as StatusCommands from "./StatusCommands.ts"

const path = "/api/v1/favourites"

export class FavouritesGroup extends HttpApiGroup.make("favourites")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Status) })
      .annotate(Access, Access.user("read", "read:favourites")),
    HttpApiEndpoint.get("favouritedBy", "/api/v1/statuses/:id/favourited_by", {
      params: StatusIdPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, Access.public("read", "read:accounts")),
    StatusCommands.onStatus("favourite", "write:favourites"),
    StatusCommands.onStatus("unfavourite", "write:favourites")
  )
  .middleware(Guard)
{}

/** Favourites, and the accounts that favourited a status visible to the caller (S-198, S-201). */
export const layer = group(
  FavouritesGroup,
  Effect.fn(function*(handlers) {
    const { act, undo } = yield* StatusCommands.make
    const interactions = yield* Interactions
    const people = yield* AccountListPages.make
    const statuses = yield* Statuses
    const page = yield* MarkedPages.make
    return handlers.handleAll({
      list: traced("favourites.list")(({ query }) => page(path, query, interactions.favouritesOf)),
      favouritedBy: traced("favourites.favouritedBy")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const { id } = yield* statuses.find(viewer, params.id)
        return yield* people(
          `/api/v1/statuses/${params.id}/favourited_by`,
          query,
          (page) => interactions.favouritedBy(viewer, id, page)
        )
      }),
      favourite: traced("favourites.favourite")(({ params }) => act({ _tag: "Favourite", statusId: params.id })),
      unfavourite: traced("favourites.unfavourite")(({ params }) => undo({ _tag: "Unfavourite", statusId: params.id }))
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
