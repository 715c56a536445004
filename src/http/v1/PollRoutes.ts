import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { StatusId } from "../../services/database/Ids.ts"
import { PollRefreshes } from "../../services/federation/fetching/PollRefreshes.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { encode } from "../wire/Keys.ts"
import { Poll } from "../wire/Poll.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import type { Status } from "../wire/Status.ts"
import { Vote } from "../wire/StatusRequests.ts"

/** Polls, addressed by the ids of their statuses. */
export class PollsGroup extends HttpApiGroup.make("polls")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/polls/:id", { params: StatusIdPath, success: Poll })
      .annotate(Access, Access.public("read", "read:statuses")),
    HttpApiEndpoint.post("vote", "/api/v1/polls/:id/votes", { params: StatusIdPath, payload: Vote, success: Poll })
      .annotate(Access, Access.user("write", "write:statuses"))
  )
  .middleware(Guard)
{}

export const layer = group(
  PollsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const refreshes = yield* PollRefreshes
    const views = yield* StatusViews

    /** Returns a status's poll as the viewer sees it; fails with RecordNotFound if the status has no poll. */
    const shown = Effect.fnUntraced(function*(viewer: Viewer, id: StatusId) {
      const { poll }: Status = JSON.parse(yield* views.renderOne(viewer, id))
      return poll === null ? yield* new RecordNotFound() : Reply.json(encode(poll))
    })

    return handlers.handleAll({
      show: traced("polls.show")(function*({ params }) {
        const viewer = yield* Caller.viewer
        const known = yield* shown(viewer, params.id)
        // Only a signed-in viewer who may see the poll triggers a request to its server.
        if (viewer === undefined || !(yield* refreshes.refresh(params.id))) return known
        return yield* shown(viewer, params.id)
      }),
      vote: traced("polls.vote")(function*({ params, payload }) {
        const viewer = yield* Caller.account
        yield* actors.tell(viewer, { _tag: "Vote", statusId: params.id, choices: payload.choices ?? [] })
        return yield* shown(viewer, params.id)
      })
    })
  })
).pipe(Layer.provide(StatusViews.layer))
