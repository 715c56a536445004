import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { type UsernameBlock, UsernameBlocks } from "../../../services/moderation/UsernameBlocks.ts"
import { traced } from "../../../services/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/Lists.ts"
import { domainRows } from "../../render/Pages.ts"
import { AdminUsernameBlock, UsernameBlockWrite } from "../../wire/admin/Blocks.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { pageOf, PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"

const reading = Access.staff("manageBlocks", "admin:read")
const writing = Access.staff("manageBlocks", "admin:write")
const path = "/api/v1/admin/username_blocks"
const changing = { params: IdPath, payload: UsernameBlockWrite, success: AdminUsernameBlock }

export class AdminUsernameBlocksGroup extends HttpApiGroup.make("admin/usernameBlocks")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminUsernameBlock) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: UsernameBlockWrite, success: AdminUsernameBlock })
      .annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminUsernameBlock })
      .annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.patch("change", `${path}/:id`, changing).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

const shown = ({ allowWithApproval, createdAt, exact, id, updatedAt, username }: UsernameBlock) =>
  json<AdminUsernameBlock>({
    id: String(id),
    username,
    exact,
    allowWithApproval,
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const wishOf = ({ allowWithApproval, exact, username }: UsernameBlockWrite) => ({
  username: username ?? undefined,
  exact,
  allowWithApproval
})

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: UsernameBlockWrite
}

/** Names that nobody takes, which Mastodon has on a page only. */
export const layer = group(
  AdminUsernameBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* UsernameBlocks
    const { publicUrl: baseUrl } = yield* ServerConfig
    const change = traced("admin.usernameBlocks.change")(function*({ params, payload }: Changing) {
      return Reply.json(shown(yield* blocks.update(yield* Caller.account, params.id, wishOf(payload))))
    })
    return handlers.handleAll({
      list: traced("admin.usernameBlocks.list")(function*({ query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* blocks.page(page)
        return Lists.page({ baseUrl, path, page, rows, cursor: ({ id }) => id, items: rows.map(shown) })
      }),
      create: traced("admin.usernameBlocks.create")(function*({ payload }) {
        return Reply.json(shown(yield* blocks.create(yield* Caller.account, wishOf(payload))))
      }),
      show: traced("admin.usernameBlocks.show")(({ params }) =>
        Effect.map(blocks.find(params.id), (found) => Reply.json(shown(found)))
      ),
      replace: change,
      change,
      remove: traced("admin.usernameBlocks.remove")(function*({ params }) {
        yield* blocks.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(UsernameBlocks.layer))
