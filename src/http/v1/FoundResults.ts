import { Effect } from "effect"
import { Collections } from "../../services/collections/Collections.ts"
import { limitOf } from "../../services/database/Paging.ts"
import * as LocalUrls from "../../services/discovery/LocalUrls.ts"
import { hashtagSign, Search } from "../../services/discovery/Search.ts"
import { parseHandle } from "../../services/federation/DomainNames.ts"
import { RemoteLookup } from "../../services/federation/RemoteLookup.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { StatusSearch } from "../../services/search/StatusSearch.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import type { FoundIds } from "../render/SearchViews.ts"
import type { SearchQuery } from "../wire/ReadRequests.ts"

type Query = Omit<typeof SearchQuery.Type, "q">

/**
 * Makes functions that search by words, an expensive read, or resolve an address or a handle. The caller checks that
 * the viewer may do so. Made once per group.
 */
export const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const collections = yield* Collections
  const statuses = yield* Statuses
  const lookup = yield* RemoteLookup
  const finder = yield* Search
  const posts = yield* StatusSearch
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
      return { accounts: [yield* accounts.lookup(resource.name)] }
    }
    if (resource?.kind === "status" && (type ?? "statuses") === "statuses") {
      return { statuses: [(yield* statuses.find(viewer, resource.id)).id] }
    }
    return nothing
  }, Effect.orElseSucceed(() => nothing))

  /** Searches by words; pages only if the query has a type. */
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

  /**
   * Returns the result at an address if `resolve` is true; undefined for other texts. A full handle is resolved at its
   * server, so that a search by words finds it. May wait for another server.
   */
  const resolved = Effect.fnUntraced(function*(viewer: Viewer, text: string, { resolve, type }: Query) {
    if (resolve !== true) return undefined
    if ((type ?? "accounts") === "accounts" && parseHandle(text) !== undefined) yield* lookup.resolve(viewer, text)
    return LocalUrls.isUrl(text) ? yield* named(viewer, text, type) : undefined
  })

  return { byWords, resolved }
})

/** Returns true if a text can name an account: not a hashtag, and no `@` among several words. */
const mayNameAccount = (text: string) => !hashtagSign.test(text) && !(text.includes("@") && /\s/.test(text))

const nothing: FoundIds = {}
