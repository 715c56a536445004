import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Threads } from "../../services/federation/fetching/Threads.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { ContextViews } from "../render/ContextViews.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Context } from "../wire/Status.ts"
import { asyncRefresh } from "./AsyncRefreshRoutes.ts"

export class ContextsGroup extends HttpApiGroup.make("contexts")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/statuses/:id/context", { params: StatusIdPath, success: Context })
      .annotate(Access, Access.public("read", "read:statuses"))
  )
  .middleware(Guard)
{}

/** Ancestors and descendants of a status (S-196). More posts may still be fetched from other servers. */
export const layer = group(
  ContextsGroup,
  Effect.fn(function*(handlers) {
    const contexts = yield* ContextViews
    const statuses = yield* Statuses
    const threads = yield* Threads
    return handlers.handleAll({
      show: traced("contexts.show")(function*({ params }) {
        const viewer = yield* Caller.viewer
        const status = yield* statuses.find(viewer, params.id)
        const fetching = viewer === undefined ? undefined : yield* threads.read(status.id)
        const shown = Reply.json(yield* contexts.render(viewer, status))
        return fetching?.running === true
          ? Reply.withHeaders(shown, asyncRefresh("thread", status.id, fetching.found))
          : shown
      })
    })
  })
).pipe(Layer.provide(ContextViews.layer))
