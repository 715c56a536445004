import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Accounts } from "../../services/identity/Accounts.ts"
import { languagesGiven } from "../../services/instance/Languages.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { Account, FamiliarFollowers } from "../wire/Account.ts"
import { Follow } from "../wire/AccountRequests.ts"
import { list, withMembers } from "../wire/Keys.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath, Ids } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import * as AccountCommands from "./AccountCommands.ts"
import * as AccountListPages from "./AccountListPages.ts"
import { accountBatchMax } from "./AccountRoutes.ts"

const path = "/api/v1/accounts"
const people = { params: AccountIdPath, query: PageQuery, success: Schema.Array(Account) }
const reading = Access.public("read", "read:accounts")

export class FollowsGroup extends HttpApiGroup.make("follows")
  .add(
    HttpApiEndpoint.post("follow", `${path}/:id/follow`, {
      params: AccountIdPath,
      payload: Follow,
      success: Relationship
    }).annotate(Access, Access.user("follow", "write", "write:follows")),
    AccountCommands.onAccount("unfollow", `${path}/:id/unfollow`, "write:follows"),
    AccountCommands.onAccount("removeFollower", `${path}/:id/remove_from_followers`, "write:follows"),
    HttpApiEndpoint.get("followers", `${path}/:id/followers`, people).annotate(Access, reading),
    HttpApiEndpoint.get("following", `${path}/:id/following`, people).annotate(Access, reading),
    HttpApiEndpoint.get("familiarFollowers", `${path}/familiar_followers`, {
      query: Ids,
      success: Schema.Array(FamiliarFollowers)
    }).annotate(Access, Access.user("read", "read:follows"))
  )
  .middleware(Guard)
{}

/** Following, followers and followed accounts (S-207 to S-209). */
export const layer = group(
  FollowsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const act = yield* AccountCommands.make
    const followLists = yield* FollowLists
    const page = yield* AccountListPages.make
    const views = yield* AccountViews

    return handlers.handleAll({
      follow: traced("follows.follow")(({ params, payload }) =>
        Effect.flatMap(languagesGiven(payload.languages), (languages) =>
          act(params.id, {
            _tag: "Follow",
            target: params.id,
            reblogs: payload.reblogs ?? null,
            notify: payload.notify ?? null,
            languages
          }))
      ),
      unfollow: traced("follows.unfollow")(({ params }) => act(params.id, { _tag: "Unfollow", target: params.id })),
      removeFollower: traced("follows.removeFollower")(({ params }) =>
        act(params.id, { _tag: "RemoveFollower", target: params.id })
      ),
      followers: traced("follows.followers")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const of = yield* accounts.find(params.id)
        return yield* page(`${path}/${params.id}/followers`, query, (asked) => followLists.followers(viewer, of, asked))
      }),
      following: traced("follows.following")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const of = yield* accounts.find(params.id)
        return yield* page(`${path}/${params.id}/following`, query, (asked) => followLists.following(viewer, of, asked))
      }),
      familiarFollowers: traced("follows.familiarFollowers")(function*({ query }) {
        const ids = Lists.idsOf(query.id).slice(0, accountBatchMax)
        const found = yield* followLists.familiar(yield* Caller.account, ids)
        const shown = yield* views.byId(new Set(found.flatMap(({ accountIds }) => accountIds)))
        return Reply.list(
          found.map(({ accountIds, id }) =>
            withMembers<FamiliarFollowers, "accounts">({ id: String(id) }, {
              accounts: list(accountIds.flatMap((account) => shown.get(account) ?? []))
            })
          )
        )
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
