import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { StatusId } from "../../services/database/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { HeldPosts } from "../../services/spam/HeldPosts.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { domainRows } from "../render/PageSizes.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"
import { HeldPostViews } from "./HeldPostViews.ts"
import { AdminHeldPost } from "./wire/Spam.ts"

const permissions = ["manageReports", "manageRules"] as const
const reading = Access.staff(permissions, "admin:read", "admin:read:reports")
const writing = Access.staff(permissions, "admin:write", "admin:write:reports")
const path = "/api/v1/admin/held_posts"
const decided = { params: IdPath, success: Schema.Struct({}) }

export class AdminHeldPostsGroup extends HttpApiGroup.make("admin/heldPosts")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(AdminHeldPost) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: IdPath, success: AdminHeldPost }).annotate(Access, reading),
    HttpApiEndpoint.post("approve", `${path}/:id/approve`, decided).annotate(Access, writing),
    HttpApiEndpoint.post("reject", `${path}/:id/reject`, decided).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Posts that a spam rule holds for review. */
export const layer = group(
  AdminHeldPostsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const held = yield* HeldPosts
    const views = yield* HeldPostViews
    const { publicUrl: baseUrl } = yield* ServerConfig

    const decide = (approved: boolean) =>
      traced(`admin.heldPosts.${approved ? "approve" : "reject"}`)(
        function*({ params }: { readonly params: { readonly id: bigint } }) {
          const { accountId } = yield* held.find(params.id)
          const [by, statusId] = [yield* Caller.account, StatusId.make(params.id)]
          yield* actors.tell(accountId, { _tag: "ReviewPost", statusId, by, approved })
          return Reply.empty
        }
      )

    return handlers.handleAll({
      list: traced("admin.heldPosts.list")(function*({ query }) {
        const page = pageOf(query, domainRows)
        const rows = yield* held.page(page)
        const items = yield* views.render(yield* Caller.account, rows)
        return Lists.page({ baseUrl, path, page, rows, cursor: ({ statusId }) => statusId, items })
      }),
      show: traced("admin.heldPosts.show")(function*({ params }) {
        const post = yield* held.find(params.id)
        const [shown] = yield* views.render(yield* Caller.account, [post])
        return shown === undefined ? yield* Effect.die(`held post ${params.id} is not shown`) : Reply.json(shown)
      }),
      approve: decide(true),
      reject: decide(false)
    })
  })
).pipe(Layer.provide([HeldPosts.layer, HeldPostViews.layer]))
