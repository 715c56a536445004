import { Clock, Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { offsetPageOf } from "../../services/database/Paging.ts"
import { Catchups } from "../../services/feeds/Catchups.ts"
import { validationFailed } from "../../services/runtime/Errors.ts"
import { momentOf, momentOfSeconds } from "../../services/runtime/Moments.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { CatchupQuery } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"

/** Posts per page, and the default time span, in milliseconds. */
const catchupPageRows = 40
const sinceMillis = 86_400_000

export class CatchupsGroup extends HttpApiGroup.make("catchups")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/timelines/catchup", { query: CatchupQuery, success: Schema.Array(Status) })
      .annotate(Access, Access.user("read", "read:statuses"))
  )
  .middleware(Guard)
{}

/** Beyond Mastodon: home posts missed since a time, infrequent authors first. */
export const layer = group(
  CatchupsGroup,
  Effect.fn(function*(handlers) {
    const catchups = yield* Catchups
    const views = yield* StatusViews
    return handlers.handleAll({
      show: traced("catchups.show")(function*({ query }) {
        const viewer = yield* Caller.account
        const { limit, offset } = offsetPageOf(query, catchupPageRows)
        const since = query.since
          ? momentOfSeconds(query.since) ?? momentOf(query.since)
          : (yield* Clock.currentTimeMillis) - sinceMillis
        if (since === undefined) return yield* validationFailed("Since is invalid")
        const ids = yield* views.unhidden(viewer, yield* catchups.since(viewer, since), "home")
        return Reply.list(yield* views.render(viewer, ids.slice(offset, offset + limit), "authors", "home"))
      })
    })
  })
).pipe(Layer.provide(StatusViews.layer))
