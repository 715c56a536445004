import { Effect, Layer } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Collections } from "../../services/collections/Collections.ts"
import { limitOf } from "../../services/database/Paging.ts"
import * as LocalUrls from "../../services/discovery/LocalUrls.ts"
import { hashtagSign, Search } from "../../services/discovery/Search.ts"
import { parseHandle } from "../../services/federation/DomainNames.ts"
import { RemoteLookup } from "../../services/federation/RemoteLookup.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { BadRequest, missingParameter, Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { StatusSearch } from "../../services/search/StatusSearch.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { type FoundIds, SearchViews } from "../render/SearchViews.ts"
import { SearchQuery } from "../wire/ReadRequests.ts"
import * as Wire from "../wire/Search.ts"

export class SearchGroup extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.get("search", "/api/v2/search", { query: SearchQuery, success: Wire.Search })
      .annotate(Access, Access.public("read", "read:search"))
  )
  .middleware(Guard)
{}

type Query = typeof SearchQuery.Type

/** Searches accounts, posts, hashtags and collections by words, or resolves a URL to one of them (S-150). */
export const layer = group(
  SearchGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const collections = yield* Collections
    const statuses = yield* Statuses
    const lookup = yield* RemoteLookup
    const finder = yield* Search
    const posts = yield* StatusSearch
    const places = yield* ExpensiveReads
    const views = yield* SearchViews
    const config = yield* ServerConfig

    const findRemote = Effect.fnUntraced(function*(viewer: Viewer, url: string, type: string | undefined) {
      const resolved = yield* lookup.resolve(viewer, url)
      if (resolved?.kind === "account" && (type ?? "accounts") === "accounts") return { accounts: [resolved.id] }
      return resolved?.kind === "status" && (type ?? "statuses") === "statuses" ? { statuses: [resolved.id] } : nothing
    })

    /** Returns the account, post or collection at a local or remote URL. */
    const named = Effect.fnUntraced(function*(viewer: Viewer, url: string, type: string | undefined) {
      const collection = (type ?? "collections") === "collections" ? yield* collections.at(viewer, url) : undefined
      if (collection !== undefined) return { collections: [collection] }
      if (URL.parse(url)?.origin !== config.publicUrl) return yield* findRemote(viewer, url, type)
      const resource = LocalUrls.parse(config, url)
      if (resource?.kind === "account" && (type ?? "accounts") === "accounts") {
        return { accounts: [yield* accounts.lookup(resource.username)] }
      }
      if (resource?.kind === "status" && (type ?? "statuses") === "statuses") {
        return { statuses: [(yield* statuses.find(viewer, resource.id)).id] }
      }
      return nothing
    }, Effect.orElseSucceed(() => nothing))

    const byWords = (viewer: Viewer, text: string, query: Query) => {
      const limit = limitOf(query.limit, statusRows)
      // Only searches of a single kind have pages.
      const offset = query.type === undefined ? 0 : query.offset ?? 0
      const wants = (type: string) => query.type === undefined || query.type === type
      const none = Effect.succeed([])
      const [accountId] = Lists.idsOf(query.accountId === undefined ? [] : [query.accountId])
      return Effect.all({
        accounts: wants("accounts") && mayNameAccount(text)
          ? finder.accounts(viewer, { text, following: query.following === true, limit, offset })
          : none,
        tags: wants("hashtags") && !text.includes("@")
          ? finder.tags(text, { limit, offset, reviewed: query.excludeUnreviewed === true })
          : none,
        statuses: wants("statuses") && viewer !== undefined
          ? posts.find(viewer, { text, accountId, offset }, { maxId: query.maxId, minId: query.minId, limit })
          : none,
        collections: wants("collections") && !text.includes("@")
          ? collections.search(viewer, text, { limit, offset })
          : none
      }, { concurrency: "unbounded" })
    }

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
        // A full handle is resolved at its server first, so that the search finds it.
        if (query.resolve === true && (query.type ?? "accounts") === "accounts" && parseHandle(text) !== undefined) {
          yield* lookup.resolve(viewer, text)
        }
        const found = query.resolve === true && LocalUrls.isUrl(text)
          ? yield* named(viewer, text, query.type)
          : yield* places.within(byWords(viewer, text, query))
        return Reply.json(yield* views.render(viewer, found))
      })
    })
  })
).pipe(Layer.provide([ExpensiveReads.layer, SearchViews.layer]))

const negative = "Pagination values for `offset` and `limit` must be positive"

/** Returns true if a text can name an account: not a hashtag, and no `@` among several words. */
const mayNameAccount = (text: string) => !hashtagSign.test(text) && !(text.includes("@") && /\s/.test(text))

const nothing: FoundIds = {}
