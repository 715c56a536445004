import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { StatusId } from "../../services/database/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Quotes } from "../../services/statuses/Quotes.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { QuotePath, ReplyPath, StatusIdPath } from "../wire/ReadRequests.ts"
import { Status } from "../wire/Status.ts"
import { InteractionPolicyChange } from "../wire/StatusRequests.ts"
import * as StatusCommands from "./StatusCommands.ts"
import { quotePolicyOf } from "./StatusPayloads.ts"

const writing = Access.user("write", "write:statuses")
const policy = { params: StatusIdPath, payload: InteractionPolicyChange, success: Status }

export class QuotesGroup extends HttpApiGroup.make("quotes")
  .add(
    HttpApiEndpoint.get("list", "/:id/quotes", {
      params: StatusIdPath,
      query: PageQuery,
      success: Schema.Array(Status)
    }).annotate(Access, Access.appOrUser("read", "read:statuses")),
    HttpApiEndpoint.post("revoke", "/:id/quotes/:quotingId/revoke", { params: QuotePath, success: Status })
      .annotate(Access, writing),
    HttpApiEndpoint.post("removeReply", "/:id/replies/:replyId/remove", { params: ReplyPath, success: Status })
      .annotate(Access, writing),
    HttpApiEndpoint.put("policy", "/:id/interaction_policy", policy).annotate(Access, writing),
    HttpApiEndpoint.patch("policyByPatch", "/:id/interaction_policy", policy).annotate(Access, writing)
  )
  .prefix("/api/v1/statuses")
  .middleware(Guard)
{}

/** Quotes of a status, their revocation and the quote policy; beyond Mastodon, removal of replies from a thread. */
export const layer = group(
  QuotesGroup,
  Effect.fn(function*(handlers) {
    const { act } = yield* StatusCommands.make
    const { publicUrl } = yield* ServerConfig
    const quotes = yield* Quotes
    const statuses = yield* Statuses
    const views = yield* StatusViews

    const setPolicy = traced("quotes.policy")(function*(
      { params, payload }: {
        readonly params: { readonly id: StatusId }
        readonly payload: typeof InteractionPolicyChange.Type
      }
    ) {
      const policy = quotePolicyOf(payload.quoteApprovalPolicy)
      if (policy === null) return yield* validationFailed("Quote policy is not included in the list")
      return yield* act({ _tag: "SetQuotePolicy", statusId: params.id, policy })
    })

    return handlers.handleAll({
      list: traced("quotes.list")(function*({ params, query }) {
        const viewer = yield* Caller.viewer
        const { id, reblogOfId } = yield* statuses.find(viewer, params.id)
        const page = pageOf(query, statusRows)
        const rows = yield* quotes.page(viewer, reblogOfId ?? id, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: `/api/v1/statuses/${params.id}/quotes`,
          page,
          rows,
          cursor: (id) => id,
          back: "since_id",
          items: yield* views.render(viewer, rows, "permitted")
        })
      }),
      revoke: traced("quotes.revoke")(({ params }) =>
        act({ _tag: "RevokeQuote", statusId: params.id, quotingId: params.quotingId })
      ),
      removeReply: traced("quotes.removeReply")(({ params }) =>
        act({ _tag: "RemoveReply", statusId: params.id, replyId: params.replyId })
      ),
      policy: setPolicy,
      policyByPatch: setPolicy
    })
  })
).pipe(Layer.provide(StatusViews.layer))
