import { Schema } from "effect"
import { Id, Timestamp } from "../Common.ts"
import { Flag, Text } from "../Params.ts"

/** An announcement as staff writes it; `text` is what was written, of which people get HTML. */
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

/** What is said of an announcement. What is absent stays, and an empty time is none; `unpublished` keeps a new one from people. */
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
