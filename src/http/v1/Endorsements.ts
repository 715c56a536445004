import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Accounts } from "../../services/identity/Accounts.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account } from "../wire/Account.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"
import * as AccountPages from "./AccountPages.ts"

const own = "/api/v1/endorsements"

export class EndorsementsGroup extends HttpApiGroup.make("endorsements")
  .add(
    HttpApiEndpoint.get("own", own, { query: PageQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.user("read", "read:accounts")),
    HttpApiEndpoint.get("list", "/api/v1/accounts/:id/endorsements", {
      params: AccountIdPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, Access.public("read", "read:accounts"))
  )
  .middleware(Guard)
{}

/** Accounts that a profile features (S-213). */
export const layer = group(
  EndorsementsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const followLists = yield* FollowLists
    const page = yield* AccountPages.make
    return handlers.handleAll({
      own: traced("endorsements.own")(function*({ query }) {
        const owner = yield* Caller.account
        const of = { id: owner, suspended: false, hideCollections: false }
        return yield* page(own, query, (asked) => followLists.endorsed(owner, of, asked))
      }),
      list: traced("endorsements.list")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const of = yield* accounts.find(params.id)
        const path = `/api/v1/accounts/${params.id}/endorsements`
        return yield* page(path, query, (asked) => followLists.endorsed(viewer, of, asked))
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
