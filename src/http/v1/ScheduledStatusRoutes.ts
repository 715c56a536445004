import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { StatusId } from "../../services/database/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Unprocessable } from "../../services/runtime/Errors.ts"
import { momentOf } from "../../services/runtime/Moments.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { UnpublishedPosts } from "../../services/statuses/UnpublishedPosts.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { ScheduledStatusViews } from "../render/ScheduledStatusViews.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import { Reschedule } from "../wire/StatusRequests.ts"

const path = "/api/v1/scheduled_statuses"
const reading = Access.user("read", "read:statuses")
const write = Access.user("write", "write:statuses")
const change = { params: StatusIdPath, payload: Reschedule, success: ScheduledStatus }

export class ScheduledStatusesGroup extends HttpApiGroup.make("scheduledStatuses")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(ScheduledStatus) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: StatusIdPath, success: ScheduledStatus })
      .annotate(Access, reading),
    HttpApiEndpoint.put("reschedule", `${path}/:id`, change).annotate(Access, write),
    HttpApiEndpoint.patch("rescheduleByPatch", `${path}/:id`, change).annotate(Access, write),
    HttpApiEndpoint.delete("cancel", `${path}/:id`, { params: StatusIdPath, success: Schema.Struct({}) })
      .annotate(Access, write)
  )
  .middleware(Guard)
{}

/** Parses the time of a scheduled post; `refusal` is the error text for an invalid one. */
export const scheduledFor = (text: string, refusal: "Invalid date supplied" | "Record invalid") => {
  const moment = momentOf(text)
  return moment === undefined ? Effect.fail(new Unprocessable({ text: refusal })) : Effect.succeed(moment)
}

/** The user's scheduled posts (S-223). */
export const layer = group(
  ScheduledStatusesGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const { scheduled } = yield* UnpublishedPosts
    const views = yield* ScheduledStatusViews
    const { publicUrl } = yield* ServerConfig

    const reschedule = traced("scheduledStatuses.reschedule")(
      function*(
        { params, payload }: { readonly params: { readonly id: StatusId }; readonly payload: typeof Reschedule.Type }
      ) {
        const viewer = yield* Caller.account
        const scheduledAt = yield* scheduledFor(payload.scheduledAt ?? "", "Invalid date supplied")
        yield* actors.tell(viewer, { _tag: "Reschedule", scheduledId: params.id, scheduledAt })
        return Reply.json(yield* views.renderOne(viewer, params.id))
      }
    )

    return handlers.handleAll({
      list: traced("scheduledStatuses.list")(function*({ query }) {
        const page = pageOf(query, statusRows)
        const rows = yield* scheduled.page(yield* Caller.account, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          items: yield* views.render(rows)
        })
      }),
      show: traced("scheduledStatuses.show")(function*({ params }) {
        return Reply.json(yield* views.renderOne(yield* Caller.account, params.id))
      }),
      reschedule,
      rescheduleByPatch: reschedule,
      cancel: traced("scheduledStatuses.cancel")(function*({ params }) {
        yield* actors.tell(yield* Caller.account, { _tag: "CancelScheduled", scheduledId: params.id })
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(ScheduledStatusViews.layer))
