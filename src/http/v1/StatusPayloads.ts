import { Effect, Option, Schema, Struct } from "effect"
import type { Command } from "../../actors/account/core/AccountProtocol.ts"
import { type AppId, MediaId, MediaIdFromString, StatusId, StatusIdFromString } from "../../services/database/Ids.ts"
import { languageGiven } from "../../services/instance/Languages.ts"
import { type Unprocessable, validationFailed } from "../../services/runtime/Errors.ts"
import { QuotePolicy } from "../../services/statuses/InteractionPolicy.ts"
import { inputOf, type Post, type PostInput } from "../../services/statuses/Post.ts"
import { isContentType } from "../../services/statuses/StoredStatus.ts"
import { writtenFields } from "../../services/statuses/Written.ts"
import type { NewStatus, StatusEdit } from "../wire/StatusRequests.ts"
import { focusOf } from "./MediaRoutes.ts"
import { policyEntriesOf } from "./PolicyPayloads.ts"

/* Converts status payloads of clients to commands of the author. */

const decodeStatusId = Schema.decodeOption(StatusIdFromString)

/** Parses the id of the parent or the quoted status. An invalid id becomes 0, which the actor refuses. */
const statusIdOrZero = (text: string) => Option.getOrElse(decodeStatusId(text), () => StatusId.make(0n))

const decodeMediaId = Schema.decodeOption(MediaIdFromString)

/** Parses media ids. An invalid id becomes 0, which the actor refuses. */
const filesOf = (ids: ReadonlyArray<string>) =>
  ids.map((text) => Option.getOrElse(decodeMediaId(text), () => MediaId.make(0n)))

/**
 * Returns the poll of a post; null if it is absent or has no options. A missing duration becomes 0, which is too short.
 */
const pollOf = (given: NewStatus["poll"]) =>
  typeof given !== "object" || given === null || (given.options ?? []).length === 0 ? null : {
    options: given.options ?? [],
    seconds: given.expiresIn ?? 0,
    multiple: given.multiple ?? false,
    hideTotals: given.hideTotals ?? false
  }

/** Returns an edit's changes to existing attachments; entries with invalid ids are dropped. */
export const attachmentChangesOf = (given: StatusEdit["mediaAttributes"]) =>
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

const isPolicy = Schema.is(QuotePolicy)

/** Returns the quote policy that a client names; null if it is absent or unknown. */
export const quotePolicyOf = (given: string | null | undefined): QuotePolicy | null => isPolicy(given) ? given : null

/** Returns the written fields that a client sends; fails with Unprocessable for an invalid language. */
const writtenFieldsOf = Effect.fnUntraced(
  function*(payload: StatusEdit): Effect.fn.Return<PostInput, Unprocessable> {
    return { ...inputOf(Struct.pick(payload, writtenFields)), language: yield* languageGiven(payload.language) }
  }
)

/** Returns the content type of the text; null if the client names none. Fails with Unprocessable if it is unknown. */
const contentTypeOf = (given: string | null | undefined) =>
  given === undefined || given === null || given === ""
    ? Effect.succeed(null)
    : isContentType(given)
    ? Effect.succeed(given)
    : Effect.fail(validationFailed("Content type is not included in the list"))

/** Returns the post that a client asks to create; fails with Unprocessable for invalid fields. */
export const postOf = Effect.fnUntraced(function*(
  payload: NewStatus,
  applicationId: AppId | undefined
): Effect.fn.Return<Post, Unprocessable> {
  return {
    text: payload.status ?? "",
    contentType: yield* contentTypeOf(payload.contentType),
    ...yield* writtenFieldsOf(payload),
    visibility: payload.visibility === "local" ? "public" : payload.visibility || null,
    localOnly: payload.visibility === "local" || payload.localOnly === true || null,
    inReplyToId: payload.inReplyToId ? statusIdOrZero(payload.inReplyToId) : null,
    applicationId: applicationId ?? null,
    allowedMentions: payload.allowedMentions ?? null,
    mediaIds: filesOf(payload.mediaIds ?? []),
    poll: pollOf(payload.poll),
    quotedStatusId: payload.quotedStatusId ? statusIdOrZero(payload.quotedStatusId) : null,
    quoteApprovalPolicy: quotePolicyOf(payload.quoteApprovalPolicy),
    interactionPolicy: (yield* policyEntriesOf(payload.interactionPolicy)) ?? null
  }
})

/** Returns the command that a client's edit means; `media` are changes of the status's files. Fails for invalid fields. */
export const editOf = Effect.fnUntraced(function*(
  statusId: StatusId,
  payload: StatusEdit,
  media: NonNullable<Extract<Command, { readonly _tag: "Edit" }>["media"]>
) {
  return {
    _tag: "Edit" as const,
    statusId,
    text: payload.status ?? "",
    contentType: yield* contentTypeOf(payload.contentType),
    ...yield* writtenFieldsOf(payload),
    quoteApprovalPolicy: quotePolicyOf(payload.quoteApprovalPolicy),
    interactionPolicy: (yield* policyEntriesOf(payload.interactionPolicy)) ?? null,
    ...(payload.mediaIds === undefined ? {} : { mediaIds: filesOf(payload.mediaIds) }),
    media,
    ...(payload.poll === undefined ? {} : { poll: pollOf(payload.poll) })
  }
})
