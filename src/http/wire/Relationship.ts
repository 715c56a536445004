import { Schema } from "effect"
import { Id, Timestamp } from "./Common.ts"

/** Relationship of the caller to the account `id`. */
export const Relationship = Schema.Struct({
  id: Id,
  following: Schema.Boolean,
  showing_reblogs: Schema.Boolean,
  notifying: Schema.Boolean,
  languages: Schema.NullOr(Schema.Array(Schema.String)),
  followed_by: Schema.Boolean,
  blocking: Schema.Boolean,
  blocked_by: Schema.Boolean,
  muting: Schema.Boolean,
  muting_notifications: Schema.Boolean,
  /** Beyond Mastodon: true if the mute lets mentions through in replies to the caller's own posts. */
  muting_replies: Schema.Boolean,
  muting_expires_at: Schema.NullOr(Timestamp),
  requested: Schema.Boolean,
  requested_by: Schema.Boolean,
  domain_blocking: Schema.Boolean,
  endorsed: Schema.Boolean,
  note: Schema.String
}).annotate({ identifier: "Relationship" })
export type Relationship = typeof Relationship.Type
