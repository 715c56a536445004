import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { TagWriter } from "../../../services/statuses/TagWriter.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { pageOf, PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminTagViews } from "../render/AdminTagViews.ts"
import { AdminTag, TagWrite } from "../wire/AdminTrend.ts"

const path = "/api/v1/admin/tags"
const tagRows = 100
const reading = Access.staff("manageTaxonomies", "admin:read")
const writing = Access.staff("manageTaxonomies", "admin:write")
const changing = { params: IdPath, payload: TagWrite, success: AdminTag }

export class AdminTagsGroup extends HttpApiGroup.make("admin/tags")
  .add(
    HttpApiEndpoint.get("all", path, { query: PageQuery, success: Schema.Array(AdminTag) }).annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminTag }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Hashtags for staff (S-233). */
export const layer = group(
  AdminTagsGroup,
  Effect.fn(function*(handlers) {
    const tags = yield* TagWriter
    const views = yield* AdminTagViews
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(id: bigint) {
      const [tag] = yield* views.render([id])
      return tag === undefined ? yield* new RecordNotFound() : Reply.json(tag)
    })
    const change = traced("admin.tags.change")(function*({ params: { id }, payload }: {
      readonly params: { readonly id: bigint }
      readonly payload: TagWrite
    }) {
      yield* tags.change(yield* Caller.account, id, { ...payload, displayName: payload.displayName ?? undefined })
      return yield* shown(id)
    })
    return handlers.handleAll({
      all: traced("admin.tags.all")(function*({ query }) {
        const page = pageOf(query, tagRows)
        const rows = yield* tags.list({}, page)
        const items = yield* views.render(rows.map(({ id }) => id))
        return Lists.page({ baseUrl: publicUrl, path, page, rows, cursor: ({ id }) => id, items })
      }),
      show: traced("admin.tags.show")(({ params }) => shown(params.id)),
      replace: change,
      change
    })
  })
).pipe(Layer.provide([AdminTagViews.layer, TagWriter.layer]))
