import { Schema, Struct } from "effect"
import { Visibility } from "../../services/statuses/Visibility.ts"
import { Id, IdNumber, Timestamp } from "./Common.ts"
import { MediaAttachment } from "./MediaAttachment.ts"
import { InteractionPolicy } from "./PolicyRules.ts"
import { written } from "./Status.ts"

/** Parameters of a scheduled post, as they were sent. */
export const ScheduledParams = Schema.Struct({
  text: Schema.String,
  /** Beyond Mastodon: markup of the text, if its author stated it. */
  content_type: Schema.optionalKey(Schema.String),
  media_ids: Schema.NullOr(Schema.Array(Id)),
  ...Schema.Struct(written).mapFields(Struct.map(Schema.NullOr)).fields,
  visibility: Schema.NullOr(Visibility),
  /** Absent if the post is not local-only. */
  local_only: Schema.optionalKey(Schema.Literal(true)),
  /** Beyond Mastodon: further texts of a draft, each of which becomes a reply to the previous post. */
  continued: Schema.optionalKey(Schema.Array(Schema.String)),
  /** A number here, although ids are strings everywhere else. */
  in_reply_to_id: Schema.NullOr(IdNumber),
  application_id: Schema.NullOr(IdNumber),
  poll: Schema.NullOr(Schema.Struct({
    options: Schema.Array(Schema.String),
    /** Seconds, as a string like in a form. */
    expires_in: Schema.String,
    multiple: Schema.Boolean,
    hide_totals: Schema.Boolean
  })),
  scheduled_at: Schema.Null,
  idempotency: Schema.Null,
  with_rate_limit: Schema.Boolean,
  allowed_mentions: Schema.NullOr(Schema.Array(Id)),
  quoted_status_id: Schema.NullOr(Id),
  quote_approval_policy: Schema.String,
  interaction_policy: Schema.NullOr(InteractionPolicy)
})

export const ScheduledStatus = Schema.Struct({
  id: Id,
  scheduled_at: Timestamp,
  params: ScheduledParams,
  media_attachments: Schema.Array(MediaAttachment)
}).annotate({ identifier: "ScheduledStatus" })
export type ScheduledStatus = typeof ScheduledStatus.Type
