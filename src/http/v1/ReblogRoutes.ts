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
import { Reblog } from "../wire/StatusRequests.ts"
import * as AccountListPages from "./AccountListPages.ts"
import { idempotencyKey } from "./CommandHeaders.ts"
import * as StatusCommands from "./StatusCommands.ts"

const path = "/api/v1/statuses/:id"
const writing = Access.user("write", "write:statuses")

export class ReblogsGroup extends HttpApiGroup.make("reblogs")
  .add(
    HttpApiEndpoint.post("reblog", `${path}/reblog`, { params: StatusIdPath, payload: Reblog, success: Status })
      .annotate(Access, writing),
    HttpApiEndpoint.post("unreblog", `${path}/unreblog`, { params: StatusIdPath, success: Status })
      .annotate(Access, Access.limited(writing, "deletion")),
    HttpApiEndpoint.get("rebloggedBy", `${path}/reblogged_by`, {
      params: StatusIdPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, Access.public("read", "read:accounts"))
  )
  .middleware(Guard)
{}

/** Boosts, and the accounts that boosted a status visible to the caller. */
export const layer = group(
  ReblogsGroup,
  Effect.fn(function*(handlers) {
    const { act, undo } = yield* StatusCommands.make
    const interactions = yield* Interactions
    const people = yield* AccountListPages.make
    const statuses = yield* Statuses
    return handlers.handleAll({
      reblog: traced("reblogs.reblog")(function*({ params, payload }) {
        const visibility = payload.visibility || null
        return yield* act({ _tag: "Reblog", statusId: params.id, visibility }, yield* idempotencyKey)
      }),
      unreblog: traced("reblogs.unreblog")(({ params }) => undo({ _tag: "Unreblog", statusId: params.id })),
      rebloggedBy: traced("reblogs.rebloggedBy")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const { id } = yield* statuses.find(viewer, params.id)
        return yield* people(
          `/api/v1/statuses/${params.id}/reblogged_by`,
          query,
          (page) => interactions.rebloggedBy(viewer, id, page)
        )
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
