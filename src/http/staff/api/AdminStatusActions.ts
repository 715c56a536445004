import { Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { StatusId } from "../../../services/database/Ids.ts"
import { statusActionTypes } from "../../../services/moderation/ActionTypes.ts"
import { CollectionActions } from "../../../services/moderation/CollectionActions.ts"
import { StatusAuthors } from "../../../services/moderation/StatusAuthors.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { StatusActionWrite } from "../wire/AdminAccount.ts"
import { decodeId } from "./DecodedIds.ts"

export class AdminStatusActionsGroup extends HttpApiGroup.make("admin/statusActions")
  .add(
    HttpApiEndpoint.post("act", "/api/v1/admin/status_actions", {
      payload: StatusActionWrite,
      success: Schema.Struct({})
    }).annotate(
      Access,
      Access.staff(["manageReports", "manageUsers"], "admin:write", "admin:write:reports")
    )
  )
  .middleware(Guard)
{}

/** Moderation of one author's posts and collections, beyond Mastodon's API, by a command of the author's actor. */
export const layer = group(
  AdminStatusActionsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const authors = yield* StatusAuthors
    const collections = yield* CollectionActions
    return handlers.handleAll({
      act: traced("admin.statusActions.act")(function*({ payload }) {
        const by = yield* Caller.account
        const type = statusActionTypes.find((one) => one === payload.type)
        if (type === undefined) return yield* validationFailed("Type is not included in the list")
        const statusIds = Lists.idsOf(payload.statusIds)
        const collectionIds = Lists.idsOf(payload.collectionIds)
        const [[post], [collection]] = [statusIds, collectionIds]
        const author = post !== undefined
          ? yield* authors.of(post)
          : collection === undefined
          ? yield* validationFailed("Status ids can't be blank")
          : yield* collections.ownerOf(collection)
        if (Option.isNone(author)) return yield* new RecordNotFound()
        const tells = payload.sendEmailNotification ?? true
        yield* actors.tell(author.value, {
          _tag: "ModerateStatuses",
          by,
          type,
          statusIds: statusIds.map((id) => StatusId.make(id)),
          collectionIds,
          text: payload.text ?? "",
          reportId: yield* decodeId(payload.reportId),
          tells
        })
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([CollectionActions.layer, StatusAuthors.layer]))
