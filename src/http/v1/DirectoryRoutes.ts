import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { offsetPageOf } from "../../services/database/Paging.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Directory } from "../../services/suggestions/Directory.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { accountRows } from "../render/PageSizes.ts"
import { Account } from "../wire/Account.ts"
import { DirectoryQuery } from "../wire/ReadRequests.ts"

export class DirectoryGroup extends HttpApiGroup.make("directory")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/directory", { query: DirectoryQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.public())
  )
  .middleware(Guard)
{}

/** Profile directory: accounts that opted in to discovery. */
export const layer = group(
  DirectoryGroup,
  Effect.fn(function*(handlers) {
    const directory = yield* Directory
    const places = yield* ExpensiveReads
    const views = yield* AccountViews
    return handlers.handleAll({
      list: traced("directory.list")(function*({ query }) {
        const ids = yield* places.within(directory.page(yield* Caller.viewer, {
          ...offsetPageOf(query, accountRows),
          order: query.order === "new" ? "new" : "active",
          local: query.local === true
        }))
        return Reply.list(yield* views.render(ids))
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, ExpensiveReads.layer]))
