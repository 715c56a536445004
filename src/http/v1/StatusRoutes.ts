import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { Command } from "../../actors/account/core/AccountProtocol.ts"
import type { StatusId } from "../../services/database/Ids.ts"
import { Mentions } from "../../services/federation/Mentions.ts"
import { mediaAttachmentsMax } from "../../services/instance/ContentLimits.ts"
import { Uploads } from "../../services/media/Uploads.ts"
import { type UnexpectedMentions, Unprocessable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import * as Lists from "../render/ListResponses.ts"
import { ScheduledStatusViews } from "../render/ScheduledStatusViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { Ids, StatusIdPath } from "../wire/ReadRequests.ts"
import { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import { DeletedStatus, Status } from "../wire/Status.ts"
import { NewStatus, StatusDeletion, StatusEdit } from "../wire/StatusRequests.ts"
import { familyHeaders, idempotencyKey } from "./CommandHeaders.ts"
import { scheduledFor } from "./ScheduledStatusRoutes.ts"
import { attachmentChangesOf, editOf, postOf } from "./StatusPayloads.ts"
import { Thumbnails } from "./Thumbnails.ts"

/** Maximum statuses in a batch request. */
const statusBatchMax = 20

const reading = Access.public("read", "read:statuses")
const writing = Access.user("write", "write:statuses")
const edit = { params: StatusIdPath, payload: StatusEdit, success: Status }

export class StatusesGroup extends HttpApiGroup.make("statuses")
  .add(
    HttpApiEndpoint.get("batch", "/", { query: Ids, success: Schema.Array(Status) }).annotate(Access, reading),
    HttpApiEndpoint.get("show", "/:id", { params: StatusIdPath, success: Status }).annotate(Access, reading),
    HttpApiEndpoint.post("create", "/", { payload: NewStatus, success: [Status, ScheduledStatus] })
      .annotate(Access, writing),
    HttpApiEndpoint.put("edit", "/:id", edit).annotate(Access, writing),
    HttpApiEndpoint.patch("editByPatch", "/:id", edit).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", "/:id", {
      params: StatusIdPath,
      payload: StatusDeletion,
      success: DeletedStatus
    }).annotate(Access, Access.limited(writing, "deletion"))
  )
  .prefix("/api/v1/statuses")
  .middleware(Guard)
{}

/**
 * Creates, shows, edits and deletes statuses. Each change is a command of the author's actor. A status that the caller
 * may not see is not found (row 57).
 */
export const layer = group(
  StatusesGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const accountViews = yield* AccountViews
    const mentions = yield* Mentions
    const scheduledViews = yield* ScheduledStatusViews
    const views = yield* StatusViews
    const thumbnails = yield* Thumbnails
    const uploads = yield* Uploads

    /** Returns changed texts and previews of attachments. A new preview is stored at once and shown after the edit. */
    const revisionsOf = (given: StatusEdit["mediaAttributes"]) =>
      Effect.forEach(attachmentChangesOf(given).slice(0, mediaAttachmentsMax), ({ ticket, ...words }) => {
        const picture = ticket === undefined ? undefined : uploads.find(ticket)
        return picture === undefined || picture.bytes === 0
          ? Effect.succeed(words)
          : Effect.map(thumbnails.make(picture), (preview) => ({ ...words, preview }))
      })

    const create = traced("statuses.create")(function*({ payload }: { readonly payload: NewStatus }) {
      const viewer = yield* Caller.account
      const { appId } = yield* Caller
      const post = yield* postOf(payload, appId)
      yield* mentions.introduce(post.text)
      const command: Command = payload.scheduledAt
        ? { _tag: "Schedule", post, scheduledAt: yield* scheduledFor(payload.scheduledAt, "Record invalid") }
        : { _tag: "Publish", post }
      const response = yield* actors.tell(viewer, command, yield* idempotencyKey)
      const id = BigInt(response.id)
      const shown = response.kind === "scheduled"
        ? Reply.json(yield* scheduledViews.renderOne(viewer, id))
        : Reply.json(yield* response.isNew ? views.renderNew(viewer, id) : views.renderOne(viewer, id))
      return Reply.withHeaders(shown, familyHeaders(response))
    })

    const change = traced("statuses.edit")(
      function*({ params, payload }: { readonly params: { readonly id: StatusId }; readonly payload: StatusEdit }) {
        const viewer = yield* Caller.account
        yield* mentions.introduce(payload.status ?? "")
        const command = yield* editOf(params.id, payload, yield* revisionsOf(payload.mediaAttributes))
        const response = yield* actors.tell(viewer, command)
        return Reply.withHeaders(
          Reply.json(yield* views.renderOne(viewer, params.id)),
          familyHeaders(response)
        )
      }
    )

    return handlers.handleAll({
      batch: traced("statuses.batch")(function*({ query }) {
        const ids = Lists.idsOf(query.id)
        if (ids.length > statusBatchMax) return yield* new Unprocessable({ text: "Mastodon::ValidationError" })
        return Reply.list(yield* views.renderNamed(yield* Caller.viewer, ids, "authors"))
      }),
      show: traced("statuses.show")(function*({ params }) {
        return Reply.json(yield* views.renderOne(yield* Caller.viewer, params.id))
      }),
      create: (request) =>
        create(request).pipe(
          Effect.catchTag("UnexpectedMentions", (failure) =>
            Effect.map(accountViews.render(failure.accountIds.map(BigInt)), (shown) =>
              unexpected(failure, shown)))
        ),
      edit: change,
      editByPatch: change,
      remove: traced("statuses.remove")(function*({ params, payload }) {
        const viewer = yield* Caller.account
        const shown = yield* views.renderForRedraft(viewer, params.id)
        yield* actors.tell(viewer, { _tag: "Delete", statusId: params.id, deleteMedia: payload.deleteMedia === true })
        return Reply.json(shown)
      })
    })
  })
).pipe(Layer.provide([AccountViews.layer, ScheduledStatusViews.layer, StatusViews.layer, Thumbnails.layer]))

/** Returns the refusal with the accounts that the post would have mentioned unexpectedly (S-194). */
const unexpected = (failure: UnexpectedMentions, accounts: ReadonlyArray<string>) =>
  Reply.error(failure, { ["unexpected_accounts"]: accounts.map((account) => JSON.parse(account)) })
