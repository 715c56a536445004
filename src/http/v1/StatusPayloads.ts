import { Effect, Option, Schema, Struct } from "effect"
import { type Unprocessable, validationFailed } from "../../services/Errors.ts"
import { type AppId, MediaId, MediaIdFromString, StatusId, StatusIdFromString } from "../../services/Ids.ts"
import { languageGiven } from "../../services/instance/Languages.ts"
import { QuotePolicy } from "../../services/statuses/InteractionPolicy.ts"
import { type Post, type Said, saidBy } from "../../services/statuses/Post.ts"
import { ContentType } from "../../services/statuses/StoredStatus.ts"
import { writtenFields } from "../../services/statuses/Written.ts"
import type { NewStatus, StatusEdit } from "../wire/StatusRequests.ts"
import { focusOf } from "./Media.ts"
import { policyWordsOf } from "./PolicyPayloads.ts"

/* What clients send of a status, as the commands of its author have it. */

const decodeStatusId = Schema.decodeOption(StatusIdFromString)

/** The status that a post answers or quotes; a text that is no id becomes an id that nothing has, which the actor refuses. */
const answered = (text: string) => Option.getOrElse(decodeStatusId(text), () => StatusId.make(0n))

const decodeMediaId = Schema.decodeOption(MediaIdFromString)

/** Files that a post names; a text that is no id becomes an id that nothing has, which the actor refuses. */
export const filesOf = (ids: ReadonlyArray<string>) =>
  ids.map((text) => Option.getOrElse(decodeMediaId(text), () => MediaId.make(0n)))

/** The poll of a post; null where the client sends an empty one. A duration that is none counts as too short. */
export const pollOf = (given: NewStatus["poll"]) =>
  typeof given !== "object" || given === null || (given.options ?? []).length === 0 ? null : {
    options: given.options ?? [],
    seconds: given.expiresIn ?? 0,
    multiple: given.multiple ?? false,
    hideTotals: given.hideTotals ?? false
  }

/** What an edit says about files that its status has. */
export const wordsOf = (given: StatusEdit["mediaAttributes"]) =>
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

/** Who may quote a status, in the words of clients; null where nothing, or something else, is said. */
export const quotePolicyOf = (given: string | null | undefined): QuotePolicy | null => isPolicy(given) ? given : null

/** What a client says of a status beside its text; what it leaves out is not said. */
export const saidOf = Effect.fnUntraced(function*(payload: StatusEdit): Effect.fn.Return<Said, Unprocessable> {
  return { ...saidBy(Struct.pick(payload, writtenFields)), language: yield* languageGiven(payload.language) }
})

const isContentType = Schema.is(ContentType)

/** How the text is written; null where a client does not say. */
export const contentTypeOf = (given: string | null | undefined) =>
  given === undefined || given === null || given === ""
    ? Effect.succeed(null)
    : isContentType(given)
    ? Effect.succeed(given)
    : Effect.fail(validationFailed("Content type is not included in the list"))

/** A new status as its author asks for it. */
export const postOf = Effect.fnUntraced(function*(
  payload: NewStatus,
  applicationId: AppId | undefined
): Effect.fn.Return<Post, Unprocessable> {
  return {
    text: payload.status ?? "",
    contentType: yield* contentTypeOf(payload.contentType),
    ...yield* saidOf(payload),
    visibility: payload.visibility === "local" ? "public" : payload.visibility || null,
    localOnly: payload.visibility === "local" || payload.localOnly === true || null,
    inReplyToId: payload.inReplyToId ? answered(payload.inReplyToId) : null,
    applicationId: applicationId ?? null,
    allowedMentions: payload.allowedMentions ?? null,
    mediaIds: filesOf(payload.mediaIds ?? []),
    poll: pollOf(payload.poll),
    quotedStatusId: payload.quotedStatusId ? answered(payload.quotedStatusId) : null,
    quoteApprovalPolicy: quotePolicyOf(payload.quoteApprovalPolicy),
    interactionPolicy: (yield* policyWordsOf(payload.interactionPolicy)) ?? null
  }
})
