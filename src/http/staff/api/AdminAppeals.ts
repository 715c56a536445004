import { Effect, Layer, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { Appeals } from "../../../services/moderation/Appeals.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { AppealViews } from "../../render/AppealViews.ts"
import * as Lists from "../../render/ListResponses.ts"
import { adminRows } from "../../render/PageSizes.ts"
import { AdminAppeal, AppealsQuery } from "../../wire/Appeal.ts"
import { pageOf } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"

const reading = Access.staff("manageAppeals", "admin:read")
const writing = Access.staff("manageAppeals", "admin:write")
const path = "/api/v1/admin/appeals"
const one = { params: IdPath, success: AdminAppeal }

export class AdminAppealsGroup extends HttpApiGroup.make("admin/appeals")
  .add(
    HttpApiEndpoint.get("all", path, { query: AppealsQuery, success: Schema.Array(AdminAppeal) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.post("approve", `${path}/:id/approve`, one).annotate(Access, writing),
    HttpApiEndpoint.post("reject", `${path}/:id/reject`, one).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Appeals against strikes, beyond Mastodon's API. Approving an appeal reverts the effects of its strike. */
export const layer = group(
  AdminAppealsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const appeals = yield* Appeals
    const views = yield* AppealViews
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(id: bigint) {
      const [text] = yield* views.render([yield* appeals.find(id)])
      return text === undefined ? yield* new RecordNotFound() : Reply.json(text)
    })
    const decide = (approved: boolean) =>
      Effect.fnUntraced(function*({ params: { id } }: { readonly params: { readonly id: bigint } }) {
        const { accountId } = yield* appeals.find(id)
        yield* actors.tell(accountId, { _tag: "DecideAppeal", by: yield* Caller.account, appealId: id, approved })
        return yield* shown(id)
      })

    return handlers.handleAll({
      all: traced("admin.appeals.all")(function*({ query }) {
        const page = pageOf(query, adminRows)
        const rows = yield* appeals.page(query.state, page)
        const { url } = yield* HttpServerRequest.HttpServerRequest
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          items: yield* views.render(rows),
          keep: Lists.linkParameters(url, ["state"])
        })
      }),
      show: traced("admin.appeals.show")(({ params }) => shown(params.id)),
      approve: traced("admin.appeals.approve")(decide(true)),
      reject: traced("admin.appeals.reject")(decide(false))
    })
  })
).pipe(Layer.provide([Appeals.layer, AppealViews.layer]))
