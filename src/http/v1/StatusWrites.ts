import { Effect, Option, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/AccountActors.ts"
import type { Command } from "../../actors/account/Protocol.ts"
import { type UnexpectedMentions, Unprocessable } from "../../services/Errors.ts"
import { Mentions } from "../../services/federation/Mentions.ts"
import { type AppId, MediaId, MediaIdFromString, StatusId, StatusIdFromString } from "../../services/Ids.ts"
import { mediaAttachmentsMax } from "../../services/instance/ContentLimits.ts"
import { languageGiven } from "../../services/instance/Languages.ts"
import { Uploads } from "../../services/media/Uploads.ts"
import { momentOf } from "../../services/Moments.ts"
import { type Post, type Said, saidBy } from "../../services/statuses/Post.ts"
import { writtenFields } from "../../services/statuses/StoredStatus.ts"
import { traced } from "../../services/Traced.ts"
import { group } from "../Group.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { AccountViews } from "../render/AccountViews.ts"
import { ScheduledStatusViews } from "../render/ScheduledStatusViews.ts"
import { StatusViews } from "../render/StatusViews.ts"
import { StatusIdPath } from "../wire/ReadRequests.ts"
import { ScheduledStatus } from "../wire/ScheduledStatus.ts"
import { DeletedStatus, Status } from "../wire/Status.ts"
import { NewStatus, Reschedule, StatusDeletion, StatusEdit } from "../wire/StatusRequests.ts"
import { focusOf } from "./Media.ts"
import { familyHeaders, idempotencyKey } from "./StatusActions.ts"
import { Thumbnails } from "./Thumbnails.ts"

const write = Access.user("write", "write:statuses")
const edit = { params: StatusIdPath, payload: StatusEdit, success: Status }
const reschedule = { params: StatusIdPath, payload: Reschedule, success: ScheduledStatus }

/** Posting, editing, deleting and scheduling, each a command of the author's actor. */
export class StatusWritesGroup extends HttpApiGroup.make("statusWrites")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/statuses", { payload: NewStatus, success: [Status, ScheduledStatus] })
      .annotate(Access, write),
    HttpApiEndpoint.put("edit", "/api/v1/statuses/:id", edit).annotate(Access, write),
    HttpApiEndpoint.patch("editByPatch", "/api/v1/statuses/:id", edit).annotate(Access, write),
    HttpApiEndpoint.delete("remove", "/api/v1/statuses/:id", {
      params: StatusIdPath,
      payload: StatusDeletion,
      success: DeletedStatus
    })
      .annotate(Access, Access.limited(write, "deletion")),
    HttpApiEndpoint.put("reschedule", "/api/v1/scheduled_statuses/:id", reschedule).annotate(Access, write),
    HttpApiEndpoint.patch("rescheduleByPatch", "/api/v1/scheduled_statuses/:id", reschedule).annotate(Access, write),
    HttpApiEndpoint.delete("cancel", "/api/v1/scheduled_statuses/:id", {
      params: StatusIdPath,
      success: Schema.Struct({})
    })
      .annotate(Access, write)
  )
  .middleware(Guard)
{}

const later = (name: string, what: string) =>
  new Unprocessable({ text: `Validation failed: ${name} is not supported: this server cannot ${what} yet` })

/** Refuses what belongs to a later capability; an empty value means that the client does not use it. */
const supported = Effect.fnUntraced(function*(payload: Pick<NewStatus, "quotedStatusId">) {
  if (isGiven(payload.quotedStatusId)) return yield* later("quoted_status_id", "quote posts")
})

const isGiven = (value: unknown) =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0)

const scheduledFor = (text: string) => {
  const moment = momentOf(text)
  return moment === undefined
    ? Effect.fail(new Unprocessable({ text: "Invalid date supplied" }))
    : Effect.succeed(moment)
}

const decodeStatusId = Schema.decodeOption(StatusIdFromString)

/** The status that a post answers; a text that is no id becomes an id that nothing has, which the actor refuses. */
const answered = (text: string) => Option.getOrElse(decodeStatusId(text), () => StatusId.make(0n))

const decodeMediaId = Schema.decodeOption(MediaIdFromString)

/** Files that a post names; a text that is no id becomes an id that nothing has, which the actor refuses. */
const filesOf = (ids: ReadonlyArray<string>) =>
  ids.map((text) => Option.getOrElse(decodeMediaId(text), () => MediaId.make(0n)))

/** The poll of a post; null where the client sends an empty one. A duration that is none counts as too short. */
const pollOf = (given: NewStatus["poll"]) =>
  typeof given !== "object" || given === null || (given.options ?? []).length === 0 ? null : {
    options: given.options ?? [],
    seconds: given.expiresIn ?? 0,
    multiple: given.multiple ?? false,
    hideTotals: given.hideTotals ?? false
  }

const wordsOf = (given: StatusEdit["mediaAttributes"]) =>
  Object.values(given ?? []).filter((words) => words !== undefined).flatMap((words) => {
    const { description, focus, id, thumbnail } = words
    const known = decodeMediaId(id ?? "")
    const point = focusOf(focus)
    return Option.isNone(known) ? [] : [{
      id: known.value,
      ...(description === undefined ? {} : { description }),
      ...(point === undefined ? {} : { focus: point }),
      ticket: typeof thumbnail === "object" ? thumbnail?.ticket : undefined
    }]
  })

const isPolicy = Schema.is(Schema.Literals(["public", "followers", "nobody"]))

/** What a client says of a status beside its text; what it leaves out is not said. */
const saidOf = Effect.fnUntraced(function*(payload: StatusEdit): Effect.fn.Return<Said, Unprocessable> {
  return { ...saidBy(Struct.pick(payload, writtenFields)), language: yield* languageGiven(payload.language) }
})

const postOf = Effect.fnUntraced(function*(
  payload: NewStatus,
  applicationId: AppId | undefined
): Effect.fn.Return<Post, Unprocessable> {
  return {
    text: payload.status ?? "",
    ...yield* saidOf(payload),
    visibility: payload.visibility || null,
    inReplyToId: payload.inReplyToId ? answered(payload.inReplyToId) : null,
    applicationId: applicationId ?? null,
    allowedMentions: payload.allowedMentions ?? null,
    mediaIds: filesOf(payload.mediaIds ?? []),
    poll: pollOf(payload.poll),
    quoteApprovalPolicy: isPolicy(payload.quoteApprovalPolicy) ? payload.quoteApprovalPolicy : null
  }
})

export const layer = group(
  StatusWritesGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const accountViews = yield* AccountViews
    const mentions = yield* Mentions
    const scheduledViews = yield* ScheduledStatusViews
    const views = yield* StatusViews
    const thumbnails = yield* Thumbnails
    const uploads = yield* Uploads

    /** New words and pictures about files of a status; a picture is stored, and shown where the edit is done. */
    const revisionsOf = (given: StatusEdit["mediaAttributes"]) =>
      Effect.forEach(wordsOf(given).slice(0, mediaAttachmentsMax), ({ ticket, ...words }) => {
        const picture = ticket === undefined ? undefined : uploads.find(ticket)
        return picture === undefined || picture.bytes === 0
          ? Effect.succeed(words)
          : Effect.map(thumbnails.make(picture), (preview) => ({ ...words, preview }))
      })

    const create = traced("statusWrites.create")(function*({ payload }: { readonly payload: NewStatus }) {
      const viewer = yield* Caller.account
      const { appId } = yield* Caller
      yield* supported(payload)
      const post = yield* postOf(payload, appId)
      yield* mentions.introduce(post.text)
      const command: Command = payload.scheduledAt
        ? { _tag: "Schedule", post, scheduledAt: yield* scheduledFor(payload.scheduledAt) }
        : { _tag: "Publish", post }
      const answer = yield* actors.tell(viewer, command, yield* idempotencyKey)
      const id = BigInt(answer.id)
      const shown = answer.kind === "scheduled"
        ? Reply.json(yield* scheduledViews.renderOne(viewer, id))
        : Reply.json(yield* views.renderOne(viewer, id))
      return Reply.withHeaders(shown, familyHeaders(answer))
    })

    const change = traced("statusWrites.edit")(
      function*({ params, payload }: { readonly params: { readonly id: StatusId }; readonly payload: StatusEdit }) {
        const viewer = yield* Caller.account
        yield* supported(payload)
        yield* mentions.introduce(payload.status ?? "")
        const answer = yield* actors.tell(viewer, {
          _tag: "Edit",
          statusId: params.id,
          text: payload.status ?? "",
          ...yield* saidOf(payload),
          ...(payload.mediaIds === undefined ? {} : { mediaIds: filesOf(payload.mediaIds) }),
          media: yield* revisionsOf(payload.mediaAttributes),
          ...(payload.poll === undefined ? {} : { poll: pollOf(payload.poll) })
        })
        return Reply.withHeaders(
          Reply.json(yield* views.renderOne(viewer, params.id)),
          familyHeaders(answer)
        )
      }
    )

    const move = traced("statusWrites.reschedule")(
      function*(
        { params, payload }: { readonly params: { readonly id: StatusId }; readonly payload: typeof Reschedule.Type }
      ) {
        const viewer = yield* Caller.account
        const scheduledAt = yield* scheduledFor(payload.scheduledAt ?? "")
        yield* actors.tell(viewer, { _tag: "Reschedule", scheduledId: params.id, scheduledAt })
        return Reply.json(yield* scheduledViews.renderOne(viewer, params.id))
      }
    )

    return handlers.handleAll({
      create: (request) =>
        create(request).pipe(
          Effect.catchTag("UnexpectedMentions", (failure) =>
            Effect.map(accountViews.render(failure.accountIds.map(BigInt)), (shown) =>
              unexpected(failure, shown)))
        ),
      edit: change,
      editByPatch: change,
      remove: traced("statusWrites.remove")(function*({ params, payload }) {
        const viewer = yield* Caller.account
        const shown = yield* views.renderForRedraft(viewer, params.id)
        yield* actors.tell(viewer, { _tag: "Delete", statusId: params.id, deleteMedia: payload.deleteMedia === true })
        return Reply.json(shown)
      }),
      reschedule: move,
      rescheduleByPatch: move,
      cancel: traced("statusWrites.cancel")(function*({ params }) {
        yield* actors.tell(yield* Caller.account, { _tag: "CancelScheduled", scheduledId: params.id })
        return Reply.empty
      })
    })
  })
)

/** The refusal names the accounts that the post would have reached (S-194). */
const unexpected = (failure: UnexpectedMentions, accounts: ReadonlyArray<string>) =>
  Reply.error(failure, { ["unexpected_accounts"]: accounts.map((account) => JSON.parse(account)) })
