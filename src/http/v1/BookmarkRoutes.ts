import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { Bookmarks } from "../../services/statuses/Bookmarks.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import * as MarkedPages from "./MarkedPages.ts"

const path = "/api/v1/bookmarks"
const marking = { params: StatusIdPath, success: Status }
const writing = Access.user("write", "write:bookmarks")

export class BookmarksGroup extends HttpApiGroup.make("bookmarks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Status) })
      .annotate(Access, Access.user("read", "read:bookmarks")),
    HttpApiEndpoint.post("add", "/api/v1/statuses/:id/bookmark", marking).annotate(Access, writing),
    HttpApiEndpoint.post("remove", "/api/v1/statuses/:id/unbookmark", marking).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Bookmarks, which only their owner sees (S-200, S-201). */
export const layer = group(
  BookmarksGroup,
  Effect.fn(function*(handlers) {
    const bookmarks = yield* Bookmarks
    const views = yield* StatusViews
    const page = yield* MarkedPages.make
    return handlers.handleAll({
      list: traced("bookmarks.list")(({ query }) => page(path, query, bookmarks.page)),
      add: traced("bookmarks.add")(function*({ params }) {
        const viewer = yield* Caller.account
        yield* bookmarks.add(viewer, params.id)
        return Reply.json(yield* views.renderOne(viewer, params.id))
      }),
      remove: traced("bookmarks.remove")(function*({ params }) {
        const viewer = yield* Caller.account
        yield* bookmarks.remove(viewer, params.id)
        return Reply.json(yield* views.renderUndone(viewer, params.id))
      })
    })
  })
).pipe(Layer.provide(StatusViews.layer))
