import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { Blocks } from "../../services/social/Blocks.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { Account } from "../wire/Account.ts"
import { PageQuery } from "../wire/PageQuery.ts"
import * as AccountCommands from "./AccountCommands.ts"
import * as AccountListPages from "./AccountListPages.ts"

const path = "/api/v1/blocks"

export class BlocksGroup extends HttpApiGroup.make("blocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Account) })
      .annotate(Access, Access.user("follow", "read", "read:blocks")),
    AccountCommands.onAccount("block", "/api/v1/accounts/:id/block", "write:blocks"),
    AccountCommands.onAccount("unblock", "/api/v1/accounts/:id/unblock", "write:blocks")
  )
  .middleware(Guard)
{}

/** Accounts that the user blocks (S-211). */
export const layer = group(
  BlocksGroup,
  Effect.fn(function*(handlers) {
    const act = yield* AccountCommands.make
    const blocks = yield* Blocks
    const page = yield* AccountListPages.make
    return handlers.handleAll({
      list: traced("blocks.list")(function*({ query }) {
        const owner = yield* Caller.account
        return yield* page(path, query, (asked) => blocks.page(owner, asked))
      }),
      block: traced("blocks.block")(({ params }) => act(params.id, { _tag: "Block", target: params.id })),
      unblock: traced("blocks.unblock")(({ params }) => act(params.id, { _tag: "Unblock", target: params.id }))
    })
  })
).pipe(Layer.provide(AccountViews.layer))
