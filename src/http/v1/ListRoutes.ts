import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ListTimelines } from "../../services/feeds/ListTimelines.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { OwnedLists } from "../../services/social/OwnedLists.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { listValues } from "../render/Values.ts"
import { json } from "../wire/Keys.ts"
import { List, ListWrite } from "../wire/List.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath, IdPath, ListIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"

const reading = Access.user("read", "read:lists")
const writing = Access.user("write", "write:lists")
const path = "/api/v1/lists"
const changing = { params: IdPath, payload: ListWrite, success: List }

export class ListsGroup extends HttpApiGroup.make("lists")
  .add(
    HttpApiEndpoint.get("all", path, { success: Schema.Array(List) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: ListWrite, success: List }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: List }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing),
    HttpApiEndpoint.get("holding", "/api/v1/accounts/:id/lists", {
      params: AccountIdPath,
      success: Schema.Array(List)
    }).annotate(Access, reading),
    HttpApiEndpoint.get("timeline", "/api/v1/timelines/list/:listId", {
      params: ListIdPath,
      query: PageQuery,
      success: Schema.Array(Status)
    }).annotate(Access, reading)
  )
  .middleware(Guard)
{}

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: ListWrite
}

/** Lists and their timelines (S-003, S-136, S-204, S-217, S-220, S-246, S-290). */
export const layer = group(
  ListsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const lists = yield* OwnedLists
    const timelines = yield* ListTimelines
    const views = yield* StatusViews
    const { publicUrl } = yield* ServerConfig

    const change = traced("lists.change")(function*({ params, payload }: Changing) {
      const changed = yield* lists.change(yield* Caller.account, params.id, changeOf(payload))
      return Reply.json(json<List>(listValues(changed)))
    })

    return handlers.handleAll({
      all: traced("lists.all")(function*() {
        const found = yield* lists.of(yield* Caller.account)
        return Reply.list(found.map((list) => json<List>(listValues(list))))
      }),
      create: traced("lists.create")(function*({ payload }) {
        const list = yield* lists.create(yield* Caller.account, changeOf(payload))
        return Reply.json(json<List>(listValues(list)))
      }),
      show: traced("lists.show")(function*({ params }) {
        return Reply.json(json<List>(listValues(yield* lists.find(yield* Caller.account, params.id))))
      }),
      replace: change,
      change,
      remove: traced("lists.remove")(function*({ params }) {
        yield* lists.remove(yield* Caller.account, params.id)
        return Reply.empty
      }),
      holding: traced("lists.holding")(function*({ params }) {
        const { id } = yield* accounts.find(params.id)
        const found = yield* lists.holding(yield* Caller.account, id)
        return Reply.list(found.map((list) => json<List>(listValues(list))))
      }),
      timeline: traced("lists.timeline")(function*({ params, query }) {
        const owner = yield* Caller.account
        const { id } = yield* lists.find(owner, params.listId)
        const page = pageOf(query, statusRows)
        const { ids, read } = yield* timelines.page(id, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/timelines/list/${id}`,
          page,
          rows: read,
          cursor: (status) => status,
          items: yield* views.render(owner, ids, "authors"),
          always: true
        })
      })
    })
  })
).pipe(Layer.provide(StatusViews.layer))

const changeOf = ({ exclusive, repliesPolicy, title }: ListWrite) => ({
  title: title ?? undefined,
  repliesPolicy: repliesPolicy ?? undefined,
  exclusive
})
