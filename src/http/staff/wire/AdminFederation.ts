import { Schema } from "effect"
import { Count, Id, Timestamp } from "../../wire/Common.ts"
import { pageFields, pageKeys } from "../../wire/PageQuery.ts"
import { Flag, Text } from "../../wire/Params.ts"

/** `kind`: Mastodon's relays are inboxes, LitePub's are actors. */
export const AdminRelay = Schema.Struct({
  id: Id,
  kind: Schema.Literals(["mastodon", "litepub"]),
  inbox_url: Schema.String,
  state: Schema.Literals(["idle", "pending", "accepted", "rejected"]),
  created_at: Timestamp
}).annotate({ identifier: "Admin::Relay" })
export type AdminRelay = typeof AdminRelay.Type

/** Inbox of a Mastodon relay, or actor of a LitePub relay. */
export const RelayWrite = Schema.Struct({
  inboxUrl: Schema.optionalKey(Schema.NullOr(Text)),
  actorUrl: Schema.optionalKey(Schema.NullOr(Text))
}).pipe(Schema.encodeKeys({ inboxUrl: "inbox_url", actorUrl: "actor_url" }))

/** Deliveries to another server; `stopped_by` is the operator, or too many days of failures. */
export const AdminDelivery = Schema.Struct({
  domain: Schema.String,
  stopped_by: Schema.NullOr(Schema.Literals(["operator", "failures"])),
  failed_days: Count,
  last_error: Schema.NullOr(Schema.String),
  last_success_at: Schema.NullOr(Timestamp),
  waiting: Count
}).annotate({ identifier: "Admin::Delivery" })
export type AdminDelivery = typeof AdminDelivery.Type

/** `failing` lists only servers that fail or are stopped. */
export const DeliveriesQuery = Schema.Struct({ ...pageFields, failing: Schema.optionalKey(Flag) })
  .pipe(Schema.encodeKeys(pageKeys))

export const AdminInstanceNote = Schema.Struct({
  id: Id,
  domain: Schema.String,
  account_id: Schema.NullOr(Id),
  content: Schema.String,
  created_at: Timestamp
}).annotate({ identifier: "Admin::InstanceNote" })
export type AdminInstanceNote = typeof AdminInstanceNote.Type

export const NoteWrite = Schema.Struct({ content: Schema.optionalKey(Schema.NullOr(Text)) })
