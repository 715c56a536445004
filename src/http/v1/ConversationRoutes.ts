import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Conversations } from "../../services/statuses/Conversations.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { ConversationViews } from "../render/ConversationViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { Conversation } from "../wire/Conversation.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const path = "/api/v1/conversations"
const one = { params: IdPath, success: Conversation }
const writing = Access.user("write", "write:conversations")

export class ConversationsGroup extends HttpApiGroup.make("conversations")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Conversation) })
      .annotate(Access, Access.user("read", "read:statuses")),
    HttpApiEndpoint.post("read", `${path}/:id/read`, one).annotate(Access, writing),
    HttpApiEndpoint.post("unread", `${path}/:id/unread`, one).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Direct messages, grouped by conversation (S-092, S-145, S-205). */
export const layer = group(
  ConversationsGroup,
  Effect.fn(function*(handlers) {
    const conversations = yield* Conversations
    const views = yield* ConversationViews
    const { publicUrl } = yield* ServerConfig

    const mark = (name: string, unread: boolean) =>
      traced(`conversations.${name}`)(function*({ params }: { readonly params: { readonly id: bigint } }) {
        const viewer = yield* Caller.account
        yield* conversations.mark(viewer, params.id, unread)
        return Reply.json(yield* views.renderOne(viewer, params.id))
      })

    return handlers.handleAll({
      list: traced("conversations.list")(function*({ query }) {
        const viewer = yield* Caller.account
        const page = pageOf(query, statusRows)
        const rows = yield* conversations.page(viewer, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ lastStatusId }) => lastStatusId,
          items: yield* views.render(viewer, rows)
        })
      }),
      read: mark("read", false),
      unread: mark("unread", true),
      remove: traced("conversations.remove")(function*({ params }) {
        yield* conversations.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(ConversationViews.layer))
