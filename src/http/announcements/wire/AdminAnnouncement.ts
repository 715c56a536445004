import { Schema } from "effect"
import { Id, Timestamp } from "../../wire/Common.ts"
import { Flag, Text } from "../../wire/Params.ts"

/** An announcement for staff; `text` is the source, which readers get as HTML. */
export const AdminAnnouncement = Schema.Struct({
  id: Id,
  text: Schema.String,
  starts_at: Schema.NullOr(Timestamp),
  ends_at: Schema.NullOr(Timestamp),
  all_day: Schema.Boolean,
  scheduled_at: Schema.NullOr(Timestamp),
  published: Schema.Boolean,
  published_at: Schema.NullOr(Timestamp),
  updated_at: Timestamp
}).annotate({ identifier: "Admin::Announcement" })
export type AdminAnnouncement = typeof AdminAnnouncement.Type

const text = Schema.optionalKey(Schema.NullOr(Text))
const flag = Schema.optionalKey(Flag)

/**
 * Fields of an announcement to set. Absent ones are unchanged, and an empty time removes it; `unpublished` creates it
 * without publishing.
 */
export const AnnouncementWrite = Schema.Struct({
  text,
  startsAt: text,
  endsAt: text,
  allDay: flag,
  scheduledAt: text,
  unpublished: flag
}).pipe(Schema.encodeKeys({
  startsAt: "starts_at",
  endsAt: "ends_at",
  allDay: "all_day",
  scheduledAt: "scheduled_at"
}))
export type AnnouncementWrite = typeof AnnouncementWrite.Type
