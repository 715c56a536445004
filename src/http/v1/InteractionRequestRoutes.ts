import { Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import { type AccountId, StatusIdFromString } from "../../services/database/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { BadRequest, RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { InteractionRequestList } from "../../services/statuses/AskedInteractions.ts"
import type { InteractionRequestKind, InteractionRequestRecord } from "../../services/statuses/InteractionRequest.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { InteractionRequestViews } from "../render/InteractionRequestViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { notificationRows } from "../render/PageSizes.ts"
import { InteractionRequest, requestsFilters, RequestsQuery } from "../wire/InteractionPolicy.ts"
import { pageOf } from "../wire/PageQuery.ts"
import { IdPath } from "../wire/ReadRequests.ts"

const path = "/api/v1/interaction_requests"
const reading = Access.user("read", "read:notifications")
const writing = Access.user("write", "write:statuses")
const one = { params: IdPath, success: InteractionRequest }

export class InteractionRequestsGroup extends HttpApiGroup.make("interactionRequests")
  .add(
    HttpApiEndpoint.get("list", path, { query: RequestsQuery, success: Schema.Array(InteractionRequest) })
      .annotate(Access, reading),
    HttpApiEndpoint.get("show", `${path}/:id`, one).annotate(Access, reading),
    HttpApiEndpoint.post("authorize", `${path}/:id/authorize`, one).annotate(Access, writing),
    HttpApiEndpoint.post("reject", `${path}/:id/reject`, one).annotate(Access, writing)
  )
  .middleware(Guard)
{}

const decodeStatusId = Schema.decodeOption(StatusIdFromString)

/** Beyond Mastodon: replies, favourites, reblogs and quotes that await the user's approval. */
export const layer = group(
  InteractionRequestsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const requests = yield* InteractionRequestList
    const views = yield* InteractionRequestViews
    const { publicUrl } = yield* ServerConfig

    const show = Effect.fnUntraced(function*(owner: AccountId, id: bigint) {
      const [shown] = yield* views.render(owner, [yield* requests.find(owner, id)])
      return shown === undefined ? yield* new RecordNotFound() : Reply.json(shown)
    })
    const decide = (name: "authorize" | "reject", tag: "AuthorizeInteraction" | "RejectInteraction") =>
      traced(`interactionRequests.${name}`)(function*({ params }: { readonly params: { readonly id: bigint } }) {
        const owner = yield* Caller.account
        yield* actors.tell(owner, { _tag: tag, requestId: params.id })
        return yield* show(owner, params.id)
      })

    return handlers.handleAll({
      list: traced("interactionRequests.list")(function*({ query, request }) {
        const owner = yield* Caller.account
        const { favourites = true, reblogs = true, replies = true, statusId } = query
        // A client that selects GoToSocial's kinds and omits quotes does not know quotes.
        const {
          quotes = query.favourites === undefined && query.reblogs === undefined && query.replies === undefined
        } = query
        const kinds: ReadonlyArray<InteractionRequestKind> = [
          ...(favourites ? ["favourite" as const] : []),
          ...(replies ? ["reply" as const] : []),
          ...(reblogs ? ["reblog" as const] : []),
          ...(quotes ? ["quote" as const] : [])
        ]
        if (kinds.length === 0) {
          return yield* new BadRequest({ text: "At least one of favourites, replies, reblogs and quotes must be true" })
        }
        const page = pageOf(query, notificationRows)
        const named = statusId === undefined || statusId === "" ? undefined : decodeStatusId(statusId)
        const rows: ReadonlyArray<InteractionRequestRecord> = named !== undefined && Option.isNone(named)
          ? []
          : yield* requests.page(owner, { kinds, statusId: named?.value }, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          keep: Lists.linkParameters(request.url, requestsFilters),
          items: yield* views.render(owner, rows)
        })
      }),
      show: traced("interactionRequests.show")(function*({ params }) {
        return yield* show(yield* Caller.account, params.id)
      }),
      authorize: decide("authorize", "AuthorizeInteraction"),
      reject: decide("reject", "RejectInteraction")
    })
  })
).pipe(Layer.provide(InteractionRequestViews.layer))
