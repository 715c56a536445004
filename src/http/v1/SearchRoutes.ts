import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BadRequest, missingParameter, Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { SearchViews } from "../render/SearchViews.ts"
import { SearchQuery } from "../wire/ReadRequests.ts"
import * as Wire from "../wire/Search.ts"
import * as FoundResults from "./FoundResults.ts"

export class SearchGroup extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("search", "/api/v2/search", { query: SearchQuery, success: Wire.Search })
      .annotate(Access, Access.public("read", "read:search"))
  )
  .middleware(Guard)
{}

/** Searches accounts, posts, hashtags and collections by words, or resolves a URL to one of them (S-150). */
export const layer = group(
  SearchGroup,
  Effect.fn(function*(handlers) {
    const { byWords, resolved } = yield* FoundResults.make
    const places = yield* ExpensiveReads
    const views = yield* SearchViews

    return handlers.handleAll({
      search: traced("search.search")(function*({ query }) {
        const viewer = yield* Caller.viewer
        const text = query.q?.trim() ?? ""
        if (text === "") return yield* missingParameter("q")
        if ((query.limit ?? 0) < 0 || (query.offset ?? 0) < 0) return yield* new BadRequest({ text: negative })
        // Queries that cost more than one index lookup need a signed-in user (row 83).
        if (viewer === undefined && query.offset !== undefined) {
          return yield* new Unauthorized({ reason: "search paging" })
        }
        if (viewer === undefined && query.resolve === true) {
          return yield* new Unauthorized({ reason: "search resolving" })
        }
        const found = (yield* resolved(viewer, text, query)) ?? (yield* places.within(byWords(viewer, text, query)))
        return Reply.json(yield* views.render(viewer, found))
      })
    })
  })
).pipe(Layer.provide([ExpensiveReads.layer, SearchViews.layer]))

const negative = "Pagination values for `offset` and `limit` must be positive"
