import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { History } from "../../services/statuses/History.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { RevisionViews } from "../render/RevisionViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { encode, json } from "../wire/Keys.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { StatusEdit, StatusSource } from "../wire/Status.ts"
import { quoteOf } from "../wire/StatusJson.ts"

export class RevisionsGroup extends HttpApiGroup.make("revisions")
  .add(
    HttpApiEndpoint.get("history", "/:id/history", { params: StatusIdPath, success: Schema.Array(StatusEdit) })
      .annotate(Access, Access.public("read", "read:statuses")),
    HttpApiEndpoint.get("source", "/:id/source", { params: StatusIdPath, success: StatusSource })
      .annotate(Access, Access.appOrUser("read", "read:statuses"))
  )
  .prefix("/api/v1/statuses")
  .middleware(Guard)
{}

/** Edit history of a status, and its source text for editing (S-144). */
export const layer = group(
  RevisionsGroup,
  Effect.fn(function*(handlers) {
    const history = yield* History
    const statuses = yield* Statuses
    const shown = yield* StatusViews
    const views = yield* RevisionViews
    return handlers.handleAll({
      history: traced("revisions.history")(function*({ params }) {
        const viewer = yield* Caller.viewer
        const { id } = yield* statuses.find(viewer, params.id)
        const quote = quoteOf(yield* shown.renderOne(viewer, id))
        return Reply.list(yield* views.render(yield* history.of(id), quote && encode(quote)))
      }),
      source: traced("revisions.source")(function*({ params }) {
        const { contentType, id, ...texts } = yield* statuses.source(yield* Caller.viewer, params.id)
        return Reply.json(
          json<StatusSource>({
            ...texts,
            id: String(id),
            ...(contentType !== "text/plain" && { contentType })
          })
        )
      })
    })
  })
).pipe(Layer.provide([RevisionViews.layer, StatusViews.layer]))
