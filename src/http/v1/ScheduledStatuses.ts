import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ScheduledStatuses } from "../../services/statuses/ScheduledStatuses.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/Lists.ts"
import { statusRows } from "../render/Pages.ts"
import { ScheduledStatusViews } from "../render/ScheduledStatusViews.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { ScheduledStatus } from "../wire/ScheduledStatus.ts"

const path = "/api/v1/scheduled_statuses"
const reading = Access.user("read", "read:statuses")

export class ScheduledStatusesGroup extends HttpApiGroup.make("scheduledStatuses")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(ScheduledStatus) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: StatusIdPath, success: ScheduledStatus })
      .annotate(Access, reading)
  )
  .middleware(Guard)
{}

/** The own posts that wait for their time (S-223). */
export const layer = group(
  ScheduledStatusesGroup,
  Effect.fn(function*(handlers) {
    const scheduled = yield* ScheduledStatuses
    const views = yield* ScheduledStatusViews
    const { publicUrl } = yield* ServerConfig
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
      })
    })
  })
)
