import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Appeals } from "../../services/moderation/Appeals.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AppealViews } from "../render/AppealViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { accountRows } from "../render/PageSizes.ts"
import { AccountWarning, AppealWrite } from "../wire/Notification.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const reading = Access.user("read", "read:accounts")
const path = "/api/v1/strikes"

/** Strikes against the caller, and appeals against them. Beyond Mastodon's API, which has only web pages for them. */
export class StrikesGroup extends HttpApiGroup.make("strikes")
  .add(
    HttpApiEndpoint.get("all", path, { query: PageQuery, success: Schema.Array(AccountWarning) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AccountWarning }).annotate(Access, reading),
    HttpApiEndpoint.post("appeal", `${path}/:id/appeal`, {
      params: IdPath,
      payload: AppealWrite,
      success: AccountWarning
    }).annotate(Access, Access.user("write", "write:accounts"))
  )
  .middleware(Guard)
{}

export const layer = group(
  StrikesGroup,
  Effect.fn(function*(handlers) {
    const appeals = yield* Appeals
    const views = yield* AppealViews
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(id: bigint) {
      yield* appeals.requireOwn(yield* Caller.account, id)
      const [text] = yield* views.strikes([id])
      return text === undefined ? yield* new RecordNotFound() : Reply.json(text)
    })

    return handlers.handleAll({
      all: traced("strikes.all")(function*({ query }) {
        const page = pageOf(query, accountRows)
        const rows = yield* appeals.strikes(yield* Caller.account, page)
        const items = yield* views.strikes(rows)
        return Lists.page({ baseUrl: publicUrl, path, page, rows, cursor: (id) => id, items })
      }),
      show: traced("strikes.show")(({ params }) => shown(params.id)),
      appeal: traced("strikes.appeal")(function*({ params, payload }) {
        yield* appeals.file(yield* Caller.account, params.id, payload.text ?? "")
        return yield* shown(params.id)
      })
    })
  })
).pipe(Layer.provide([Appeals.layer, AppealViews.layer]))
