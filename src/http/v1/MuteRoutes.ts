import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Mutes } from "../../services/social/Mutes.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { accountRows } from "../render/PageSizes.ts"
import { MutedAccount } from "../wire/Account.ts"
import { Mute } from "../wire/AccountRequests.ts"
import { timestampOrNull } from "../wire/Common.ts"
import { extend } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { AccountIdPath } from "../wire/ReadRequests.ts"
import { Relationship } from "../wire/Relationship.ts"
import * as AccountCommands from "./AccountCommands.ts"

const path = "/api/v1/mutes"

export class MutesGroup extends HttpApiGroup.make("mutes")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(MutedAccount) })
      .annotate(Access, Access.user("follow", "read", "read:mutes")),
    HttpApiEndpoint.post("mute", "/api/v1/accounts/:id/mute", {
      params: AccountIdPath,
      payload: Mute,
      success: Relationship
    }).annotate(Access, Access.user("follow", "write", "write:mutes")),
    AccountCommands.onAccount("unmute", "/api/v1/accounts/:id/unmute", "write:mutes")
  )
  .middleware(Guard)
{}

/** Accounts that the user mutes, with the expiry of each mute (S-115, S-141). */
export const layer = group(
  MutesGroup,
  Effect.fn(function*(handlers) {
    const act = yield* AccountCommands.make
    const mutes = yield* Mutes
    const views = yield* AccountViews
    const { publicUrl } = yield* ServerConfig
    return handlers.handleAll({
      list: traced("mutes.list")(function*({ query }) {
        const page = pageOf(query, accountRows)
        const rows = yield* mutes.page(yield* Caller.account, page)
        const found = yield* views.byId(rows.map(({ accountId }) => accountId))
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ cursor }) => cursor,
          items: yield* renderedRows("mute", rows, ({ cursor }) => cursor, ({ accountId, expiresAt }) => {
            const account = found.get(accountId)
            return account && extend<MutedAccount>(account, { muteExpiresAt: timestampOrNull(expiresAt) })
          }),
          back: "since_id"
        })
      }),
      mute: traced("mutes.mute")(({ params, payload }) =>
        act(params.id, {
          _tag: "Mute",
          target: params.id,
          notifications: payload.notifications ?? true,
          replies: payload.replies ?? false,
          seconds: Math.max(0, payload.duration ?? 0)
        })
      ),
      unmute: traced("mutes.unmute")(({ params }) => act(params.id, { _tag: "Unmute", target: params.id }))
    })
  })
).pipe(Layer.provide(AccountViews.layer))
