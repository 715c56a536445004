import { Effect, Layer, Option, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { AccountId, StatusId } from "../../services/database/Ids.ts"
import { Mentions } from "../../services/federation/Mentions.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { UnpublishedPosts } from "../../services/statuses/UnpublishedPosts.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { statusRows } from "../render/PageSizes.ts"
import { ScheduledStatusViews } from "../render/ScheduledStatusViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { draftValues } from "../render/Values.ts"
import { Draft } from "../wire/Draft.ts"
import { json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import { Status } from "../wire/Status.ts"
import { NewStatus, Reschedule } from "../wire/StatusRequests.ts"
import { familyHeaders, idempotencyKey } from "./CommandHeaders.ts"
import { scheduledFor } from "./ScheduledStatusRoutes.ts"
import { postOf } from "./StatusPayloads.ts"

const path = "/api/v1/drafts"
const reading = Access.user("read", "read:statuses")
const writing = Access.user("write", "write:statuses")

export class DraftsGroup extends HttpApiGroup.make("drafts")
  .add(
    HttpApiEndpoint.get("list", path, { query: PageQuery, success: Schema.Array(Draft) }).annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: NewStatus, success: Draft }).annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, { params: StatusIdPath, success: Draft }).annotate(Access, reading),
    HttpApiEndpoint.put("replace", `${path}/:id`, { params: StatusIdPath, payload: NewStatus, success: Draft })
      .annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: StatusIdPath, success: Schema.Struct({}) })
      .annotate(Access, writing),
    HttpApiEndpoint.post("publish", `${path}/:id/publish`, {
      params: StatusIdPath,
      payload: Reschedule,
      success: [Status, ScheduledStatus]
    }).annotate(Access, writing)
  )
  .middleware(Guard)
{}

/** Beyond Mastodon: the user's drafts, shared between devices. */
export const layer = group(
  DraftsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const config = yield* ServerConfig
    const { drafts } = yield* UnpublishedPosts
    const mentions = yield* Mentions
    const scheduledViews = yield* ScheduledStatusViews
    const views = yield* StatusViews

    const shown = (owner: AccountId, id: bigint) =>
      Effect.map(drafts.find(owner, id), (draft) => Reply.json(json<Draft>(draftValues(config, draft))))
    const save = Effect.fnUntraced(function*(draftId: StatusId | null, payload: NewStatus, key?: string) {
      const owner = yield* Caller.account
      const { appId } = yield* Caller
      const done = yield* actors.tell(
        owner,
        { _tag: "SaveDraft", draftId, post: yield* postOf(payload, appId) },
        key
      )
      return yield* shown(owner, BigInt(done.id))
    })

    return handlers.handleAll({
      list: traced("drafts.list")(function*({ query }) {
        const page = pageOf(query, statusRows)
        const rows = yield* drafts.page(yield* Caller.account, page)
        return Lists.page({
          baseUrl: config.publicUrl,
          path,
          page,
          rows,
          cursor: ({ id }) => id,
          items: rows.map((draft) => json<Draft>(draftValues(config, draft)))
        })
      }),
      create: traced("drafts.create")(function*({ payload }) {
        return yield* save(null, payload, yield* idempotencyKey)
      }),
      show: traced("drafts.show")(function*({ params }) {
        return yield* shown(yield* Caller.account, params.id)
      }),
      replace: traced("drafts.replace")(function*({ params, payload }) {
        return yield* save(params.id, payload)
      }),
      remove: traced("drafts.remove")(function*({ params }) {
        yield* actors.tell(yield* Caller.account, { _tag: "DeleteDraft", draftId: params.id })
        return Reply.empty
      }),
      publish: traced("drafts.publish")(function*({ params, payload }) {
        const owner = yield* Caller.account
        const { appId } = yield* Caller
        // A retry with the same key finds the draft gone.
        const draft = yield* Effect.option(drafts.find(owner, params.id))
        if (Option.isSome(draft)) yield* mentions.introduce(draft.value.post.text)
        const scheduledAt = payload.scheduledAt ? yield* scheduledFor(payload.scheduledAt, "Record invalid") : null
        const done = yield* actors.tell(
          owner,
          { _tag: "PublishDraft", draftId: params.id, applicationId: appId ?? null, scheduledAt },
          yield* idempotencyKey
        )
        const id = BigInt(done.id)
        const reply = done.kind === "scheduled"
          ? Reply.json(yield* scheduledViews.renderOne(owner, id))
          : Reply.json(yield* views.renderOne(owner, id))
        return Reply.withHeaders(reply, familyHeaders(done))
      })
    })
  })
).pipe(Layer.provide([ScheduledStatusViews.layer, StatusViews.layer]))
