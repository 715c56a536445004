import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AccountId } from "../../services/database/Ids.ts"
import type { Page } from "../../services/database/Paging.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { endorsementsMax } from "../../services/social/Endorsements.ts"
import { FollowLists } from "../../services/social/FollowLists.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account } from "../wire/Account.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import * as AccountCommands from "./AccountCommands.ts"
import * as AccountListPages from "./AccountListPages.ts"

const own = "/api/v1/endorsements"

const featuring = <const Name extends "endorse" | "unendorse" | "pin" | "unpin">(name: Name) =>
  HttpApiEndpoint.post(name, `/api/v1/accounts/:id/${name}`, { params: AccountIdPath, success: Relationship })
    .annotate(Access, Access.user("write", "write:accounts"))

export class EndorsementsGroup extends HttpApiGroup.make("endorsements")
  .add(
    HttpApiEndpoint.get("own", own, { query: PageQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.user("read", "read:accounts")),
    HttpApiEndpoint.get("list", "/api/v1/accounts/:id/endorsements", {
      params: AccountIdPath,
      query: PageQuery,
      success: Schema.Array(Account)
    }).annotate(Access, Access.public("read", "read:accounts")),
    featuring("endorse"),
    featuring("unendorse"),
    // Older names of the same endpoints.
    featuring("pin"),
    featuring("unpin")
  )
  .middleware(Guard)
{}

/** Accounts featured on a profile (S-213). */
export const layer = group(
  EndorsementsGroup,
  Effect.fn(function*(handlers) {
    const accounts = yield* Accounts
    const act = yield* AccountCommands.make
    const followLists = yield* FollowLists
    const page = yield* AccountListPages.make
    const views = yield* AccountViews
    const endorse = (target: AccountId) => act(target, { _tag: "Endorse", target })
    const unendorse = (target: AccountId) => act(target, { _tag: "Unendorse", target })
    return handlers.handleAll({
      own: traced("endorsements.own")(function*({ query }) {
        const owner = yield* Caller.account
        const of = { id: owner, suspended: false, hideCollections: false }
        const listed = (asked: Page) => followLists.endorsed(owner, of, asked)
        if (query.limit !== 0) return yield* page(own, query, listed)
        // A limit of zero asks for all (S-292).
        const all = yield* listed({ limit: endorsementsMax })
        return Reply.list(yield* views.render(all.map(({ accountId }) => accountId)))
      }),
      endorse: traced("endorsements.endorse")(({ params }) => endorse(params.id)),
      unendorse: traced("endorsements.unendorse")(({ params }) => unendorse(params.id)),
      pin: traced("endorsements.pin")(({ params }) => endorse(params.id)),
      unpin: traced("endorsements.unpin")(({ params }) => unendorse(params.id)),
      list: traced("endorsements.list")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const of = yield* accounts.find(params.id)
        const path = `/api/v1/accounts/${params.id}/endorsements`
        return yield* page(path, query, (asked) => followLists.endorsed(viewer, of, asked))
      })
    })
  })
).pipe(Layer.provide(AccountViews.layer))
