import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account } from "../wire/Account.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import * as AccountCommands from "./AccountCommands.ts"
import * as AccountListPages from "./AccountListPages.ts"

const path = "/api/v1/follow_requests"

export class FollowRequestsGroup extends HttpApiGroup.make("followRequests")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.user("follow", "read", "read:follows")),
    AccountCommands.onAccount("authorize", `${path}/:id/authorize`, "write:follows"),
    AccountCommands.onAccount("reject", `${path}/:id/reject`, "write:follows")
  )
  .middleware(Guard)
{}

/** Follow requests to the user (S-210). */
export const layer = group(
  FollowRequestsGroup,
  Effect.fn(function*(handlers) {
    const act = yield* AccountCommands.make
    const followLists = yield* FollowLists
    const page = yield* AccountListPages.make
    return handlers.handleAll({
      list: traced("followRequests.list")(function*({ query }) {
        const owner = yield* Caller.account
        return yield* page(path, query, (asked) => followLists.requests(owner, asked))
      }),
      authorize: traced("followRequests.authorize")(({ params }) =>
        act(params.id, { _tag: "AuthorizeFollow", target: params.id })
      ),
      reject: traced("followRequests.reject")(({ params }) =>
        act(params.id, { _tag: "RejectFollow", target: params.id })
      )
    })
  })
).pipe(Layer.provide(AccountViews.layer))
