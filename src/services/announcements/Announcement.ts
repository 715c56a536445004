import { Schema } from "effect"
import { Timestamptz } from "../Rows.ts"

/** Characters of an announcement, and announcements that a server may have, unpublished ones too. */
export const announcementCharactersMax = 5_000
export const announcementsMax = 100
/** Different reactions to one announcement. */
export const announcementReactionsMax = 8

/** A row of `announcements`; `publishedAt` is null while only staff sees it. */
export const Announcement = Schema.Struct({
  id: Schema.BigInt,
  text: Schema.String,
  startsAt: Schema.NullOr(Timestamptz),
  endsAt: Schema.NullOr(Timestamptz),
  allDay: Schema.Boolean,
  scheduledAt: Schema.NullOr(Timestamptz),
  publishedAt: Schema.NullOr(Timestamptz),
  updatedAt: Timestamptz
})
export type Announcement = typeof Announcement.Type

const Moment = Schema.optionalKey(Schema.NullOr(Schema.Int))

/** What staff says of an announcement: what is absent stays as it is, times are milliseconds since 1970. */
export const AnnouncementChange = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  startsAt: Moment,
  endsAt: Moment,
  /** Days without times; heeded only where there is a range (S-087). */
  allDay: Schema.optionalKey(Schema.Boolean),
  /** When it is published by itself, where it is not yet. */
  scheduledAt: Moment
})
export type AnnouncementChange = typeof AnnouncementChange.Type

/** A reaction to an announcement, and by how many. */
export const Reaction = Schema.Struct({
  announcementId: Schema.BigInt,
  /** An emoji of Unicode, or the shortcode of one of this server's own. */
  name: Schema.String,
  count: Schema.Int,
  me: Schema.Boolean
})
export type Reaction = typeof Reaction.Type
