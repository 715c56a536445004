import { Schema, SchemaTransformation } from "effect"
import { AccountIdFromString } from "../../services/database/Ids.ts"
import { Visibility } from "../../services/statuses/Visibility.ts"
import type { Written } from "../../services/statuses/Written.ts"
import { PolicyGiven } from "./InteractionPolicy.ts"
import type { WireKey } from "./Keys.ts"
import { FileTicket } from "./MediaRequests.ts"
import { Flag, hash, Integer, list, Text } from "./Params.ts"

/** New description and focal point of a file of an edited status. */
const MediaAttributes = Schema.Struct({
  id: Schema.optionalKey(Text),
  description: Schema.optionalKey(Schema.NullOr(Text)),
  focus: Schema.optionalKey(Schema.NullOr(Text)),
  /** A text that is ignored if the operation takes no files. */
  thumbnail: Schema.optionalKey(Schema.Union([FileTicket, Text]))
})

const Choice = Text.pipe(Schema.decodeTo(
  Schema.Int,
  SchemaTransformation.transform({ decode: (text) => /^\d{1,3}$/.test(text) ? Number(text) : -1, encode: String })
))

/** A new poll; `expiresIn` is in seconds. */
const Poll = Schema.Struct({
  options: Schema.optionalKey(list(Text)),
  expiresIn: Schema.optionalKey(Integer),
  multiple: Schema.optionalKey(Flag),
  hideTotals: Schema.optionalKey(Flag)
}).pipe(Schema.encodeKeys({ expiresIn: "expires_in", hideTotals: "hide_totals" }))

/** The author's fields besides the text, as in JSON and forms. */
const authorFields = {
  spoilerText: Schema.optionalKey(Schema.NullOr(Text)),
  sensitive: Schema.optionalKey(Flag),
  language: Schema.optionalKey(Schema.NullOr(Text))
} satisfies { readonly [Field in keyof Written]: Schema.Constraint }
const authorKeys = {
  spoilerText: "spoiler_text",
  sensitive: "sensitive",
  language: "language"
} as const satisfies { readonly [Field in keyof Written]: WireKey<Field> }

const content = {
  status: Schema.optionalKey(Schema.NullOr(Text)),
  contentType: Schema.optionalKey(Schema.NullOr(Text)),
  ...authorFields,
  mediaIds: Schema.optionalKey(list(Text)),
  mediaAttributes: Schema.optionalKey(
    hash(Schema.Union([Schema.Array(hash(MediaAttributes)), Schema.Record(Schema.String, hash(MediaAttributes))]))
  ),
  /** An empty one removes the poll from an edited post. */
  poll: Schema.optionalKey(hash(Schema.Union([Poll, Schema.Literal(""), Schema.Null]))),
  quoteApprovalPolicy: Schema.optionalKey(Schema.NullOr(Text)),
  interactionPolicy: Schema.optionalKey(PolicyGiven)
}

const keys = {
  ...authorKeys,
  contentType: "content_type",
  mediaIds: "media_ids",
  mediaAttributes: "media_attributes",
  quoteApprovalPolicy: "quote_approval_policy",
  interactionPolicy: "interaction_policy"
} as const

/** `POST /api/v1/statuses` */
export const NewStatus = Schema.Struct({
  ...content,
  /** "local" is Akkoma's name for public and local-only. */
  visibility: Schema.optionalKey(Schema.NullOr(Schema.Union([Visibility, Schema.Literals(["", "local"])]))),
  localOnly: Schema.optionalKey(Flag),
  inReplyToId: Schema.optionalKey(Schema.NullOr(Text)),
  quotedStatusId: Schema.optionalKey(Schema.NullOr(Text)),
  scheduledAt: Schema.optionalKey(Schema.NullOr(Text)),
  allowedMentions: Schema.optionalKey(list(AccountIdFromString))
}).pipe(Schema.encodeKeys({
  ...keys,
  localOnly: "local_only",
  inReplyToId: "in_reply_to_id",
  quotedStatusId: "quoted_status_id",
  scheduledAt: "scheduled_at",
  allowedMentions: "allowed_mentions"
}))
export type NewStatus = typeof NewStatus.Type

/** `PUT /api/v1/statuses/:id` */
export const StatusEdit = Schema.Struct(content).pipe(Schema.encodeKeys(keys))
export type StatusEdit = typeof StatusEdit.Type

/** `POST /api/v1/polls/:id/votes`; indexes of options, invalid ones are refused. */
export const Vote = Schema.Struct({ choices: Schema.optionalKey(list(Choice)) })

/** `POST /api/v1/statuses/:id/reblog` */
export const Reblog = Schema.Struct({
  visibility: Schema.optionalKey(Schema.NullOr(Schema.Union([Visibility, Schema.Literal("")])))
})

/** `PUT /api/v1/statuses/:id/interaction_policy` */
export const InteractionPolicyChange = Schema.Struct({
  quoteApprovalPolicy: Schema.optionalKey(Schema.NullOr(Text))
}).pipe(Schema.encodeKeys({ quoteApprovalPolicy: "quote_approval_policy" }))

/** `PUT /api/v1/scheduled_statuses/:id` */
export const Reschedule = Schema.Struct({ scheduledAt: Schema.optionalKey(Schema.NullOr(Text)) }).pipe(
  Schema.encodeKeys({ scheduledAt: "scheduled_at" })
)

/** `DELETE /api/v1/statuses/:id` */
export const StatusDeletion = Schema.Struct({ deleteMedia: Schema.optionalKey(Flag) }).pipe(
  Schema.encodeKeys({ deleteMedia: "delete_media" })
)
