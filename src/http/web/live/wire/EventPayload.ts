import { Schema } from "effect"

/** Parts of an event's payload that the web client needs: it fetches the post itself, as its page shows it. */
export const EventPayload = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.String),
  reblog: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.String }))),
  account: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.String }))),
  status: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.String }))),
  /** Read position of notifications, of a marker. */
  notifications: Schema.optionalKey(
    Schema.Struct({ lastReadId: Schema.String }).pipe(Schema.encodeKeys({ lastReadId: "last_read_id" }))
  ),
  inReplyToAccountId: Schema.optionalKey(Schema.NullOr(Schema.String))
}).pipe(Schema.encodeKeys({ inReplyToAccountId: "in_reply_to_account_id" }))
export type EventPayload = typeof EventPayload.Type
