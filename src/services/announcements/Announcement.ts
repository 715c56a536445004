import { Schema } from "effect"
import { Timestamptz } from "../database/Rows.ts"

/** Maximum characters of an announcement, and maximum announcements of a server, including unpublished ones. */
export const announcementCharactersMax = 5_000
export const announcementsMax = 100
/** Maximum different reactions to an announcement. */
export const announcementReactionsMax = 8

/** A row of `announcements`; `publishedAt` is null while only staff can see it. */
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

/** Changes by staff; absent fields stay unchanged. Times are in milliseconds since 1970. */
export const AnnouncementChange = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  startsAt: Moment,
  endsAt: Moment,
  /** Dates without times; only applies to a range (S-087). */
  allDay: Schema.optionalKey(Schema.Boolean),
  /** Time of publication, if it is not published yet. */
  scheduledAt: Moment
})
export type AnnouncementChange = typeof AnnouncementChange.Type

/** A reaction to an announcement, with its count. */
export const Reaction = Schema.Struct({
  announcementId: Schema.BigInt,
  /** A Unicode emoji, or the shortcode of a local custom emoji. */
  name: Schema.String,
  count: Schema.Int,
  me: Schema.Boolean
})
export type Reaction = typeof Reaction.Type
