import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../services/database/Ids.ts"
import { limitOf } from "../../services/database/Paging.ts"
import { Search } from "../../services/discovery/Search.ts"
import { RemoteProfiles } from "../../services/federation/fetching/RemoteProfiles.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { missingParameter, Unprocessable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { AccountStatuses } from "../../services/statuses/AccountStatuses.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { deprecated } from "../render/Deprecation.ts"
import * as FeatureApprovals from "../render/FeatureApprovals.ts"
import { allShown, filled, singleEnds } from "../render/FilledPages.ts"
import * as Lists from "../render/ListResponses.ts"
import { accountRows, statusRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Account, CredentialAccount } from "../wire/Account.ts"
import { pageOf } from "../wire/PageQuery.ts"
import {
  AccountIdPath,
  AccountSearchQuery,
  accountStatusesFilters,
  AccountStatusesQuery,
  Ids,
  LookupQuery
} from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"

/** Maximum accounts in a batch request. */
export const accountBatchMax = 40

const reading = Access.public("read", "read:accounts")

export class AccountsGroup extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.get("verifyCredentials", "/verify_credentials", { success: CredentialAccount })
      .annotate(Access, Access.user("profile", "read", "read:accounts")),
    HttpApiEndpoint.get("lookup", "/lookup", { query: LookupQuery, success: Account }).annotate(Access, reading),
    HttpApiEndpoint.get("search", "/search", { query: AccountSearchQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.user("read", "read:accounts")),
    HttpApiEndpoint.get("batch", "/", { query: Ids, success: Schema.Array(Account) }).annotate(Access, reading),
    HttpApiEndpoint.get("show", "/:id", { params: AccountIdPath, success: Account }).annotate(Access, reading),
    HttpApiEndpoint.get("statuses", "/:id/statuses", {
      params: AccountIdPath,
      query: AccountStatusesQuery,
      success: Schema.Array(Status)
    }).annotate(Access, Access.public("read", "read:statuses")),
    HttpApiEndpoint.get("identityProofs", "/:id/identity_proofs", {
      params: AccountIdPath,
      success: Schema.Array(Schema.Unknown)
    }).annotate(Access, Access.user())
  )
  .prefix("/api/v1/accounts")
  .middleware(Guard)
{}

/** Accounts and their statuses (S-134, S-135, S-137, S-206, S-216). */
export const layer = group(
  AccountsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const published = yield* AccountStatuses
    const finder = yield* Search
    const profiles = yield* RemoteProfiles
    const views = yield* AccountViews
    const approvals = yield* FeatureApprovals.make
    const statusViews = yield* StatusViews
    const { publicUrl } = yield* ServerConfig

    const read = (viewer: Viewer, id: AccountId) => viewer === undefined ? Effect.void : profiles.read(id)
    /** Returns true if the account shows anything, false if it is suspended. Fails if the account does not exist. */
    const refreshIfVisible = Effect.fnUntraced(function*(viewer: Viewer, id: AccountId) {
      const { suspended } = yield* accounts.find(id)
      if (!suspended) yield* read(viewer, id)
      return !suspended
    })

    return handlers.handleAll({
      verifyCredentials: traced("accounts.verifyCredentials")(function*() {
        return Reply.json(yield* views.renderCredentials(yield* Caller.account))
      }),
      lookup: traced("accounts.lookup")(function*({ query }) {
        if (query.acct === undefined || query.acct === "") return yield* missingParameter("acct")
        return Reply.json(yield* approvals.renderOne(yield* Caller.viewer, yield* accounts.lookup(query.acct)))
      }),
      search: traced("accounts.search")(function*({ query }) {
        if (query.q === undefined || query.q.trim() === "") return yield* missingParameter("q")
        const viewer = yield* Caller.account
        const found = yield* finder.accounts(viewer, {
          text: query.q,
          following: query.following === true,
          limit: limitOf(query.limit, accountRows),
          offset: Math.max(0, query.offset ?? 0)
        })
        return Reply.list(yield* approvals.render(viewer, found))
      }),
      batch: traced("accounts.batch")(function*({ query }) {
        const ids = Lists.idsOf(query.id)
        if (ids.length > accountBatchMax) return yield* new Unprocessable({ text: "Mastodon::ValidationError" })
        return Reply.list(yield* approvals.render(yield* Caller.viewer, yield* accounts.known(ids)))
      }),
      show: traced("accounts.show")(function*({ params }) {
        const id = yield* accounts.show(params.id)
        const viewer = yield* Caller.viewer
        yield* read(viewer, id)
        return Reply.json(yield* approvals.renderOne(viewer, id))
      }),
      statuses: traced("accounts.statuses")(function*({ params, query, request }) {
        const viewer = yield* Caller.viewer
        if (query.pinned === true) {
          if (!(yield* refreshIfVisible(viewer, params.id))) return Reply.list([])
          const pinned = yield* published.pinned(viewer, params.id)
          return Reply.list(yield* statusViews.render(viewer, pinned, "permitted", "account"))
        }
        const page = pageOf(query, statusRows)
        const selection = {
          onlyMedia: query.onlyMedia === true,
          excludeReplies: query.excludeReplies === true,
          excludeReblogs: query.excludeReblogs === true,
          excludeDirect: query.excludeDirect === true,
          tagged: query.tagged
        }
        const { items, read: rows } = yield* filled({
          page,
          hides: statusViews.hides(viewer),
          unhidden: (ids) => statusViews.unhidden(viewer, ids, "account"),
          ends: singleEnds,
          read: (page) => Effect.map(published.page(viewer, params.id, selection, page), allShown),
          show: (ids) => statusViews.render(viewer, ids, "permitted", "account")
        })
        // An account with rows exists, which saves a query.
        if (rows.length > 0) yield* read(viewer, params.id)
        else if (!(yield* refreshIfVisible(viewer, params.id))) return Reply.list([])
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/accounts/${params.id}/statuses`,
          page,
          rows,
          cursor: (id) => id,
          items,
          keep: Lists.linkParameters(request.url, accountStatusesFilters)
        })
      }),
      // Always empty, but the account must exist.
      identityProofs: ({ params }) =>
        Effect.as(accounts.find(params.id), Reply.withHeaders(deprecated("2022-03-30"))(Reply.list([])))
    })
  })
).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
