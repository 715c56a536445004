import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/AccountActors.ts"
import type { Command } from "../../actors/account/Protocol.ts"
import type { AccountId, StatusId } from "../../services/Ids.ts"
import type { Answer } from "../../services/intents/Commands.ts"
import { ConversationMutes } from "../../services/statuses/ConversationMutes.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import { Reblog } from "../wire/StatusRequests.ts"

const on = <const Name extends string>(name: Name, verb: string, ...scopes: ReadonlyArray<string>) =>
  HttpApiEndpoint.post(name, `/api/v1/statuses/:id/${verb}`, { params: StatusIdPath, success: Status })
    .annotate(Access, Access.user("write", ...scopes))

/** What a user does with a status: marks that others see go through the actor, private ones straight to their service. */
export class StatusActionsGroup extends HttpApiGroup.make("statusActions")
  .add(
    on("favourite", "favourite", "write:favourites"),
    on("unfavourite", "unfavourite", "write:favourites"),
    HttpApiEndpoint.post("reblog", "/api/v1/statuses/:id/reblog", {
      params: StatusIdPath,
      payload: Reblog,
      success: Status
    })
      .annotate(Access, Access.user("write", "write:statuses")),
    HttpApiEndpoint.post("unreblog", "/api/v1/statuses/:id/unreblog", { params: StatusIdPath, success: Status })
      .annotate(Access, Access.limited(Access.user("write", "write:statuses"), "deletion")),
    on("pin", "pin", "write:accounts"),
    on("unpin", "unpin", "write:accounts"),
    on("mute", "mute", "write:mutes"),
    on("unmute", "unmute", "write:mutes")
  )
  .middleware(Guard)
{}

/** The headers of the family that a command used. */
export const familyHeaders = ({ standing }: Answer): Record<string, string> =>
  standing === undefined ? {} : Reply.limitHeaders(standing)

/** The client's Idempotency-Key, where it sends one; a longer one is cut, as no client means it. */
export const idempotencyKey = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => headers["idempotency-key"]?.slice(0, 255) || undefined
)

export const layer = group(
  StatusActionsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const views = yield* StatusViews
    const mutes = yield* ConversationMutes

    /** Does the command and shows the status that it answers. */
    const act = Effect.fnUntraced(function*(command: Command, key?: string) {
      const viewer = yield* Caller.account
      const answer = yield* actors.tell(viewer, command, key)
      const id = BigInt(answer.id)
      return Reply.withHeaders(Reply.json(yield* views.renderOne(viewer, id)), familyHeaders(answer))
    })
    const undo = Effect.fnUntraced(function*(command: Command) {
      const viewer = yield* Caller.account
      const id = BigInt((yield* actors.tell(viewer, command)).id)
      return Reply.json(yield* views.renderUndone(viewer, id))
    })
    const mute = Effect.fnUntraced(function*(
      id: StatusId,
      change: (viewer: AccountId, id: StatusId) => Effect.Effect<void>
    ) {
      const viewer = yield* Caller.account
      // Asked for first: what cannot be seen cannot be muted.
      yield* views.renderOne(viewer, id)
      yield* change(viewer, id)
      return Reply.json(yield* views.renderOne(viewer, id))
    })

    return handlers.handleAll({
      favourite: traced("statusActions.favourite")(({ params }) => act({ _tag: "Favourite", statusId: params.id })),
      unfavourite: traced("statusActions.unfavourite")(({ params }) =>
        undo({ _tag: "Unfavourite", statusId: params.id })
      ),
      reblog: traced("statusActions.reblog")(function*({ params, payload }) {
        const command: Command = { _tag: "Reblog", statusId: params.id, visibility: payload.visibility || null }
        return yield* act(command, yield* idempotencyKey)
      }),
      unreblog: traced("statusActions.unreblog")(({ params }) => undo({ _tag: "Unreblog", statusId: params.id })),
      pin: traced("statusActions.pin")(({ params }) => act({ _tag: "Pin", statusId: params.id })),
      unpin: traced("statusActions.unpin")(({ params }) => act({ _tag: "Unpin", statusId: params.id })),
      mute: traced("statusActions.mute")(({ params }) => mute(params.id, mutes.mute)),
      unmute: traced("statusActions.unmute")(({ params }) => mute(params.id, mutes.unmute))
    })
  })
)
