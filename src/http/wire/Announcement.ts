import { Schema } from "effect"
import { IdFromString } from "../../services/database/Ids.ts"
import { Count, Html, Id, Timestamp, Url } from "./Common.ts"
import { CustomEmoji } from "./CustomEmoji.ts"
import { Flag } from "./Params.ts"
import { Mention, Status } from "./Status.ts"
import { ShallowTag } from "./Tag.ts"

/** Count of an emoji reaction; `me` is absent in streams, and URLs are absent for Unicode emoji. */
export const Reaction = Schema.Struct({
  name: Schema.String,
  count: Count,
  me: Schema.optionalKey(Schema.Boolean),
  url: Schema.optionalKey(Url),
  static_url: Schema.optionalKey(Url)
}).annotate({ identifier: "Reaction" })
export type Reaction = typeof Reaction.Type

/** Payload of the event `announcement.reaction`. */
export const ReactionEvent = Schema.Struct({ ...Reaction.fields, announcement_id: Id })
export type ReactionEvent = typeof ReactionEvent.Type

/** `read` is absent in streams. */
export const Announcement = Schema.Struct({
  id: Id,
  content: Html,
  starts_at: Schema.NullOr(Timestamp),
  ends_at: Schema.NullOr(Timestamp),
  all_day: Schema.Boolean,
  published_at: Timestamp,
  updated_at: Timestamp,
  read: Schema.optionalKey(Schema.Boolean),
  mentions: Schema.Array(Mention),
  statuses: Schema.Array(Status),
  tags: Schema.Array(ShallowTag),
  emojis: Schema.Array(CustomEmoji),
  reactions: Schema.Array(Reaction)
}).annotate({ identifier: "Announcement" })
export type Announcement = typeof Announcement.Type

/** `GET /api/v1/announcements` */
export const AnnouncementsQuery = Schema.Struct({ withDismissed: Schema.optionalKey(Flag) }).pipe(
  Schema.encodeKeys({ withDismissed: "with_dismissed" })
)

export const ReactionPath = { id: IdFromString, name: Schema.String }
