import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type UsernameBlock, UsernameBlocks } from "../../../services/moderation/UsernameBlocks.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { group } from "../../Group.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { PageQuery } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import { AdminUsernameBlock, UsernameBlockWrite } from "../wire/AdminBlocks.ts"
import { staffTable } from "./StaffTable.ts"

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

/** Reserved usernames. Mastodon has only a web page for them. */
export const layer = group(
  AdminUsernameBlocksGroup,
  Effect.fn(function*(handlers) {
    const blocks = yield* UsernameBlocks
    const table = yield* staffTable({
      name: "usernameBlocks",
      path,
      table: blocks,
      shown: (rows) => Effect.succeed(rows.map(shown))
    })
    const change = traced("admin.usernameBlocks.change")(function*({ params, payload }: Changing) {
      return Reply.json(shown(yield* blocks.update(yield* Caller.account, params.id, wishOf(payload))))
    })
    return handlers.handleAll({
      ...table.handlers,
      create: traced("admin.usernameBlocks.create")(function*({ payload }) {
        return Reply.json(shown(yield* blocks.create(yield* Caller.account, wishOf(payload))))
      }),
      replace: change,
      change
    })
  })
).pipe(Layer.provide(UsernameBlocks.layer))
